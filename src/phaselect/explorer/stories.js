// The stories of the paper: settings, and what to look for.

const STORIES = [
  {
    title: "λ = 0 gets stuck",
    text: `Without a regulariser, cooling learns nothing here: the solid line stays at zero at every temperature,
      although from μ ≈ 7 on the signal itself (dashed) is stable too. Nothing leads from one to the other, and the run
      freezes into signs that do not fit. So it goes below α = 1.584.`,
    settings: { mode: "lam", lam: 0, alpha: 1.5, mu: 30, n: 200, steps: 30, seed: 1 },
  },
  {
    title: "μλ = 1 works",
    text: `Let λ fall as 1/μ and the regulariser is, at every temperature, what is truly known of x: its size. One
      unbroken line now leads from nothing to the signal with fewer measurements than λ = 0 needs, and a real instance
      walks along it.`,
    settings: { mode: "product", product: 1, alpha: 1.3, mu: 3, n: 200, steps: 100, seed: 0 },
  },
  {
    title: "The hard phase",
    text: `Below α = 1.128 even the best product does not get there: slow cooling ends at an overlap of about 0.6, with
      the signal hidden behind a gap. The measurements still determine x, down to α = 1, but no algorithm of this kind
      finds it in reasonable time once N is large.`,
    settings: { mode: "product", product: 1, alpha: 1.08, mu: 1000, n: 400, steps: 100, seed: 1 },
  },
  {
    title: "Right, but too slow",
    text: `A small λ that stays the same, here 0.005, is nearly as good as μλ = 1, says the theory, if one cools
      infinitely slowly: the product passes through 1 on the way. Message passing, which weighs all signs at once,
      follows the line. Metropolis flips one sign at a time, and these are cold by then: it freezes.`,
    settings: { mode: "lam", lam: 0.005, alpha: 1.4, mu: 30, n: 200, steps: 30, seed: 0 },
  },
].map((story) => ({ ...story, text: story.text.replace(/\s+/g, " ") }));
