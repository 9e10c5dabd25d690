/** One run of a scenario, which stands still wherever there is a choice of what happens next. */
export interface Run {
  /** What may happen next, by name and in the same order for the same past; empty: the run is over. */
  actions(): readonly Action[];
  /** Ends what is left, and throws where a rule was broken. */
  finish(): Promise<void>;
}

export interface Action {
  readonly name: string;
  /** Resolves when everything that follows from it has happened. */
  run(): Promise<void>;
}

export interface Exploration {
  /** The number of orders in which things can happen. */
  readonly runs: number;
  /** Whether there are no others. */
  readonly isExhaustive: boolean;
}

/**
 * Runs a scenario once for each order in which its actions can happen. Beyond `depth` the first action
 * is taken, so the number of runs is bounded; so is it by `mostRuns`.
 */
export async function explore(
  begin: () => Promise<Run> | Run,
  { depth = Number.POSITIVE_INFINITY, mostRuns = 1_000_000 } = {},
): Promise<Exploration> {
  const path: { choice: number; readonly choices: number }[] = [];
  let isExhaustive = true;
  for (let runs = 1; runs <= mostRuns; runs += 1) {
    const names: string[] = [];
    try {
      const run = await begin();
      for (let actions = run.actions(); actions.length > 0; actions = run.actions()) {
        const at = names.length;
        if (at >= depth && actions.length > 1) isExhaustive = false;
        const choices = at < depth ? actions.length : 1;
        const step = path[at] ?? { choice: 0, choices };
        if (step.choices !== choices) throw new Error('the same past has another future');
        path[at] = step;
        const action = actions[step.choice] as Action;
        names.push(action.name);
        await action.run();
      }
      await run.finish();
    } catch (error) {
      throw new Error(`after: ${names.join(', ')}`, { cause: error });
    }
    // The last step that has another choice takes it; what came after it is forgotten.
    while (path.length > 0 && isLast(path.at(-1))) path.pop();
    const next = path.at(-1);
    if (next === undefined) return { runs, isExhaustive };
    next.choice += 1;
  }
  return { runs: mostRuns, isExhaustive: false };
}

function isLast(step: { choice: number; readonly choices: number } | undefined): boolean {
  return step !== undefined && step.choice + 1 === step.choices;
}
