// What is on the screen, as a few lines of Python.

function pythonOf({ mode, product, lam, alpha, n, seed, steps }) {
  const kind = mode === "product" ? `fixed_product(${product}` : `fixed_lambda(${lam}`;
  return `import phaselect
from phaselect import Schedule, theory

schedule = Schedule.${kind}, mu0=${MU_RANGE[0]}, mu_max=${MU_RANGE[1]}, eps=${EPS}, steps=${steps})
cooled = theory.follow(${alpha}, schedule)  # the solid line: columns mu, m, mse_y, ...
informed = theory.follow(${alpha}, schedule, start="informed")  # the dashed one

problem = phaselect.gaussian_instance(${n}, ${alpha}, seed=${seed})  # as large; other random numbers
signs = phaselect.SimulatedAnnealing(eager=False).run(problem, schedule, seed=${seed})
messages = phaselect.AMP(restarts=0).run(problem, schedule, seed=${seed})
print(signs.trace["m"][-1], messages.trace["m"][-1], cooled["m"][-1])
`;
}
