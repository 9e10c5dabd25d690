import { inFull } from '../../../support/in-full.ts';

/** What the gateway does with an order that it is sent; `refused`: it never gets it. */
export type End = 'accepted' | 'rejected' | 'nothing' | 'paused' | 'refused';

/** After these the gateway has surely not taken the order, and its key is free. */
export const FREEING: readonly End[] = ['paused', 'refused'];

export interface Operation {
  readonly do: 'place' | 'void' | 'ask';
  /** The replica that gets it. */
  readonly at: number;
  /** Of another order with the same key. */
  readonly isOther?: boolean;
  /** It has to be sent before the time passes that `expires` lets pass. */
  readonly hasLimit?: boolean;
}

export interface Scenario {
  readonly operations: readonly Operation[];
  readonly ends: readonly End[];
  /** The first replica may die at any time. */
  readonly mayDie?: boolean;
  /** The time limit of orders may pass at any time. */
  readonly expires?: boolean;
  /** So much time may pass that everything which waits gives up. */
  readonly hangs?: boolean;
  /** How often a replica looks again, while things happen elsewhere. */
  readonly polls?: number;
}

const place: Operation = { do: 'place', at: 0 };
const limited: Operation = { do: 'place', at: 0, hasLimit: true };
const repeat: Operation = { do: 'place', at: 1 };
const other: Operation = { do: 'place', at: 1, isOther: true };
const ask: Operation = { do: 'ask', at: 1 };
const voidHere: Operation = { do: 'void', at: 0 };
const voidThere: Operation = { do: 'void', at: 1 };

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
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
