import { formatTime, plural } from './format.ts';
import { failuresOf, PARTS, rowsOf } from './phone.ts';
import type { Way } from './start-screen.ts';

export type Ways = Partial<Record<'rest' | 'graph', Way>>;

/** Whether a caption describes the phones now, or during a fault that has ended. */
type Tense = 'shows' | 'showed';

const andList = new Intl.ListFormat('en-GB');
const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export function isWhole(way: Way): boolean {
  return PARTS.every((part) => failuresOf(way, part).length === 0);
}

/** Describes the two phones in one sentence, without a capital at its beginning, so that it can end another sentence. */
export function captionOf({ rest, graph }: Ways, tense: Tense = 'shows'): string {
  const { here, waiting, missing } = stateOf(rest);
  if (JSON.stringify(stateOf(rest)) !== JSON.stringify(stateOf(graph))) {
    return `REST ${tense} ${shownOf(rest)}; the graph ${tense} ${shownOf(graph)}.`;
  }
  if (here.length === 0 && waiting.length > 0) return 'both apps are opening their screen.';
  if (waiting.length > 0) {
    return `${andList.format(waiting)} ${waiting.length === 1 ? 'is' : 'are'} on the way; both phones show the rest.`;
  }
  // The verb for both phones: `show` or `showed`.
  const both = tense.replace(/s$/, '');
  if (here.length === 0) return `neither phone ${tense} anything.`;
  if (missing.length > 0) return `both phones ${both} no ${orList.format(missing)}.`;
  const positions = plural(rest?.data.positions?.length ?? 0, 'position');
  return namesOf(rest) === namesOf(graph)
    ? `both phones ${both} the same ${positions}, and the same orders and instruments${cachedWords(rest, graph)}.`
    : `both phones ${both} all, and the account has changed between them.`;
}

function shownOf(way: Way | undefined): string {
  const { here, waiting, missing } = stateOf(way);
  const lacks = here.length > 0 && missing.length > 0 ? `, no ${orList.format(missing)}` : '';
  const soFar = waiting.length > 0 ? ' so far' : '';
  const ages = agesOf(way).map((age) => `, ${age}`);
  return `${here.length} of ${PARTS.length} parts${soFar}${lacks}${ages.join('')}`;
}

/** The times of figures that are older than the request for them. */
function agesOf(way: Way | undefined): readonly string[] {
  const { positionsAsOf, data, startedAt } = way ?? {};
  const fetchedAt = data?.session?.fetchedAt;
  const isOld = fetchedAt && startedAt && startedAt.getTime() - Date.parse(fetchedAt) > SECOND_MS;
  return [
    ...(positionsAsOf ? [`prices of ${formatTime(positionsAsOf)}`] : []),
    ...(isOld ? [`equity of ${formatTime(new Date(fetchedAt))}`] : []),
  ];
}

const SECOND_MS = 1_000;

/** How old the graph's figures are where they differ: the service keeps a session for some time. */
function cachedWords(rest: Way | undefined, graph: Way | undefined): string {
  const [fresh, cached] = [rest?.data.session, graph?.data.session];
  if (!fresh?.fetchedAt || !cached?.fetchedAt) return '';
  const names = (['equity', 'balance'] as const).filter((name) => fresh[name] !== cached[name]);
  if (names.length === 0) return '';
  const seconds = Math.round(
    (Date.parse(fresh.fetchedAt) - Date.parse(cached.fetchedAt)) / SECOND_MS,
  );
  const age = seconds < 1 ? 'less than a second' : `${seconds} s`;
  return `; the graph’s ${andList.format(names)} ${names.length === 1 ? 'is' : 'are'} ${age} older: cached`;
}

type PartState = 'here' | 'waiting' | 'missing';

/** The names of the parts that have arrived, are loading, or have failed. */
function stateOf(way: Way | undefined) {
  const parts = Object.groupBy(PARTS, (part) => stateOfPart(way, part));
  const namesIn = (state: PartState) => (parts[state] ?? []).map(({ name }) => name.toLowerCase());
  return { here: namesIn('here'), waiting: namesIn('waiting'), missing: namesIn('missing') };
}

function stateOfPart(way: Way | undefined, part: (typeof PARTS)[number]): PartState {
  if (way === undefined) return 'waiting';
  if (failuresOf(way, part).length > 0) return 'missing';
  return rowsOf(way, part) === null ? 'waiting' : 'here';
}

/** The names in all rows but those of the equity. Prices are not compared, because they move in the meantime. */
function namesOf(way: Way | undefined): string {
  const lists = PARTS.filter(({ name }) => name !== 'Equity');
  const rows = lists.flatMap((part) => (way && rowsOf(way, part)) ?? []);
  return JSON.stringify(rows.map(([name, about]) => [name, about]));
}
