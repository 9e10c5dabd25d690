import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import {
  type Action,
  beginRun,
  type Operation,
  type Run,
  type Scenario,
} from './interleaved-run.ts';

const place: Operation = { do: 'place', at: 0 };
const limited: Operation = { do: 'place', at: 0, hasLimit: true };
const repeat: Operation = { do: 'place', at: 1 };
const other: Operation = { do: 'place', at: 1, isOther: true };
const ask: Operation = { do: 'ask', at: 1 };
const voidHere: Operation = { do: 'void', at: 0 };
const voidThere: Operation = { do: 'void', at: 1 };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'an order and a void': {
    operations: [place, voidThere],
    ends: ['accepted', 'rejected', 'nothing', 'paused', 'refused'],
    polls: 2,
  },
  'an order and a void at the same replica': {
    operations: [place, voidHere],
    ends: ['accepted', 'nothing', 'paused'],
    hangs: true,
  },
  'an order, its repeat and a void': {
    operations: [place, repeat, voidThere],
    ends: ['accepted', 'paused'],
  },
  'an order, another one with its key and a void': {
    operations: [place, other, voidThere],
    ends: ['accepted', 'refused'],
  },
  'an order, voids and a question': {
    // The second void has as many orders of events as all other scenarios together.
    operations: inFull([place, voidHere, voidThere, ask], [place, voidThere, ask]),
    ends: ['accepted', 'refused'],
  },
  'an order whose replica may die, and a void': {
    operations: [place, voidThere],
    ends: ['accepted', 'paused'],
    mayDie: true,
    polls: 1,
  },
  'an order whose replica may die, its repeat and a void': {
    operations: [place, repeat, voidThere],
    ends: ['accepted'],
    mayDie: true,
  },
  'an order that may be late, and a void': {
    operations: [limited, voidThere],
    ends: ['accepted', 'refused'],
    expires: true,
    polls: 1,
  },
  'an order that may be late, its repeat without a limit, and a question': {
    operations: [limited, repeat, ask],
    ends: ['accepted', 'refused'],
    expires: true,
  },
  'an order whose outcome may come late, and a void': {
    operations: [place, voidThere],
    ends: ['accepted', 'rejected', 'paused'],
    hangs: true,
    polls: 1,
  },
};

/** More than any scenario has. */
const MAX_RUNS = 1_000_000;

/** Runs a scenario once for each order in which its actions can happen, and returns how many these are. */
async function explore(begin: () => Run): Promise<number> {
  const path: { choice: number; readonly choices: number }[] = [];
  for (let runs = 1; runs <= MAX_RUNS; runs += 1) {
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
  throw new Error(`there are more than ${MAX_RUNS}`);
}

function isLast(step: { choice: number; readonly choices: number } | undefined): boolean {
  return step !== undefined && step.choice + 1 === step.choices;
}

test.each(Object.entries(SCENARIOS))(
  'in whatever order things happen, nothing is sent after it was voided, nor voided after it was sent, and all are told the same: %s',
  async (_, scenario) => {
    expect(await explore(() => beginRun(scenario))).toBeGreaterThan(400);
  },
  600_000,
);
