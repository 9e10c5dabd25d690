import { pathOf } from '../../test/support/ask-gateway.ts';
import { CUSTOMER_ID, HOME, POSITIONS, SEARCH } from './documents.ts';
import type { Market } from './gateway-process.ts';
import type { Question } from './subject.ts';
import { createTerms } from './terms.ts';

/** One row of the table: a request that repeats while the market stands still or moves. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** The target: at most this multiple of the CPU of the subject `wire`. */
  readonly target: number;
  readonly connections: number;
  readonly market: Market;
  /** The gateway calls of each request, once session and catalog are cached. */
  readonly calls: readonly string[];
  readonly next: () => Question;
  /** The requests whose answers are compared, and whose answers the wire replays. */
  readonly samples: readonly [Question, ...Question[]];
  /** Whether other subjects may answer with fewer rows, because not every search forgives a typo. */
  readonly mayFindFewer: boolean;
}

const CALLS = {
  positions: pathOf('getOpenPositions'),
  withdrawalMethods: pathOf('getWithdrawalMethods'),
  customerId: pathOf('getCustomerId'),
};

// A search reads only the catalog, which is cached.
const NO_CALLS: readonly string[] = [];
const CONNECTIONS = 16;
const SAMPLED_TERMS = 100;
const REPEATED_TERM = 'corp';

export function createWorkloads(instruments: readonly { symbol: string; name: string }[]) {
  const home: Question = { path: '/home', document: HOME, variables: {} };
  const positions: Question = { path: '/positions', document: POSITIONS, variables: {} };
  const customerId: Question = { path: '/customer-id', document: CUSTOMER_ID, variables: {} };
  const homeCalls = Object.values(CALLS);
  // The number in each row is its target.
  return [
    workload('home', 'home screen', 2.5, homeCalls, home, { market: 'moving' }),
    workload('home-still', 'home screen, the market stands still', 2.5, homeCalls, home),
    workload('search', 'search, first 20, repeated', 2, NO_CALLS, searchFor(REPEATED_TERM)),
    freshSearch(instruments),
    workload('positions', 'positions, all fields', 4, [CALLS.positions], positions, {
      market: 'moving',
    }),
    workload(
      'positions-still',
      'positions, the market stands still',
      4,
      [CALLS.positions],
      positions,
    ),
    workload('customer-id', '`{ customerId }`', 1.15, [CALLS.customerId], customerId),
  ];
}

/** Repeats one question in a market that stands still. `more` replaces these defaults. */
function workload(
  name: string,
  title: string,
  target: number,
  calls: readonly string[],
  question: Question,
  more: Partial<Workload> = {},
): Workload {
  return {
    name,
    title,
    target,
    calls,
    connections: CONNECTIONS,
    market: 'still',
    next: () => question,
    samples: [question],
    mayFindFewer: false,
    ...more,
  };
}

/** Searches for a new term each time, which is in no cache. */
function freshSearch(instruments: readonly { symbol: string; name: string }[]): Workload {
  const terms = createTerms(instruments);
  // By this path the subject `wire` finds the recorded answers of this row.
  const next = () => searchFor(terms.next(), '/search?fresh');
  return {
    ...workload('search-fresh', 'search, first 20, fresh', 12, NO_CALLS, next()),
    next,
    samples: [next(), ...Array.from({ length: SAMPLED_TERMS - 1 }, next)],
    mayFindFewer: true,
  };
}

function searchFor(term: string, path = '/search'): Question {
  return { path, document: SEARCH, variables: { term } };
}
