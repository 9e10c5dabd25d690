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

/** More than any scenario has. */
const MOST_RUNS = 1_000_000;

/** Runs a scenario once for each order in which its actions can happen, and returns how many these are. */
export async function explore(begin: () => Run): Promise<number> {
  const path: { choice: number; readonly choices: number }[] = [];
  for (let runs = 1; runs <= MOST_RUNS; runs += 1) {
    const names: string[] = [];
    try {
      const run = begin();
      for (let actions = run.actions(); actions.length > 0; actions = run.actions()) {
        const at = names.length;
        const choices = actions.length;
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
    if (next === undefined) return runs;
    next.choice += 1;
  }
  throw new Error(`there are more than ${MOST_RUNS}`);
}

function isLast(step: { choice: number; readonly choices: number } | undefined): boolean {
  return step !== undefined && step.choice + 1 === step.choices;
}
