"""
A matrix that is not iid
========================

Neighbouring columns are alike. Plain message passing diverges; ``solve`` looks at A first, and takes the kind that
bears it.
"""

# %%
# Rows with the correlations of a Toeplitz matrix, 0.9 between neighbours.

import matplotlib.pyplot as plt

import phaselect

problem = phaselect.ensemble_instance("toeplitz", n=200, alpha=1.5, seed=0, rho=0.9)
result = phaselect.solve(problem)
for stage in result.stages:
    print(f"{stage.solver}: {stage.why}; {stage.ended}")
print(result.status.value)

# %%
# The same instance by solvers of your choice: ``AMP`` is for iid entries, ``VectorMessagePassing`` goes through the
# singular values that A has. The first is lost by its third iteration.

runs = {
    "AMP": phaselect.AMP(restarts=0).run(problem, seed=0),
    "vector message passing": phaselect.VectorMessagePassing(restarts=0).run(problem, seed=0),
}

fig, axes = plt.subplots(1, 2, figsize=(6.5, 2.6))
axes[0].imshow(problem.A[:60, :60], cmap="RdBu", aspect="auto")
axes[0].set(title="a corner of A", xlabel="column", ylabel="row")
for name, run in runs.items():
    axes[1].plot(
        run.trace["sweeps"], run.trace["m"], "o-", ms=3, label=f"{name}: {run.status.name.lower().replace('_', ' ')}"
    )
axes[1].set(xlabel="iteration", ylabel="overlap with the signal", xlim=(0, 150))
axes[1].legend()
plt.show()
