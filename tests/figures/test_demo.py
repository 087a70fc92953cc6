from dataclasses import replace

from phaselect import Status, gaussian_instance
from phaselect.figures.demo import compare, draw


def test_what_there_is_is_drawn():
    """The last solver may have been interrupted before it began: it has no trace."""
    problem = gaussian_instance(20, 4.0, seed=0)
    result = next(compare(problem, 0))
    nothing = replace(result, trace={}, status=Status.INTERRUPTED)
    for results, lines in (([result], 1), ([result, nothing], 1), ([nothing], 0)):
        assert [len(axes.lines) for axes in draw(problem, results).axes] == [lines, lines]
