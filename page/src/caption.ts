import { formatTime, plural } from './format.ts';
import { failuresOf, PARTS, rowsOf } from './phone.ts';
import type { Way } from './start-screen.ts';

export type Ways = Partial<Record<'rest' | 'graph', Way>>;

/** Whether a caption is of the phones as they are, or as they were while something was broken. */
type Tense = 'shows' | 'showed';

const list = new Intl.ListFormat('en-GB');

export function isWhole(way: Way): boolean {
  return PARTS.every((part) => failuresOf(way, part).length === 0);
}

export function isComplete({ rest, graph }: Ways): boolean {
  return [rest, graph].every((way) => stateOf(way).waiting.length === 0);
}

/**
 * Says in one sentence what the two phones show, without a capital at its beginning, so that it can end another one. Where
 * something is broken and they show the same, it says that it makes no difference, and what is to be said beside that.
 */
export function captionOf(ways: Ways, note: string | null, tense: Tense = 'shows'): string {
  const { rest, graph } = ways;
  const { here, waiting, blank } = stateOf(rest);
  if (JSON.stringify(stateOf(rest)) !== JSON.stringify(stateOf(graph))) {
    return `REST ${tense} ${shownOf(rest)}; the graph ${tense} ${shownOf(graph)}.`;
  }
  if (here.length === 0 && waiting.length > 0) return 'both apps are opening their screen.';
  if (waiting.length > 0) {
    return `${list.format(waiting)} ${waiting.length === 1 ? 'is' : 'are'} on the way; both phones show the rest.`;
  }
  const end = note === null ? '.' : `: no difference here${note}.`;
  const both = tense.replace(/s$/, '');
  if (here.length === 0) return `neither phone ${tense} anything${end}`;
  if (blank.length > 0) return `both phones ${both} no ${list.format(blank)}${end}`;
  const positions = plural(rest?.data.positions?.length ?? 0, 'position');
  return namesOf(rest) === namesOf(graph)
    ? `both phones ${both} the same ${positions}, orders and instruments${end}`
    : `both phones ${both} all, and the account has changed between them.`;
}

function shownOf(way: Way | undefined): string {
  const { here, waiting, blank } = stateOf(way);
  if (here.length === 0) return waiting.length > 0 ? 'nothing yet' : 'nothing';
  const others = [...waiting, ...blank];
  const most = others.length === 0 ? 'all' : `all but ${list.format(others)}`;
  const age = way?.positionsAsOf ? `, with prices of ${formatTime(way.positionsAsOf)}` : '';
  return `${others.length < here.length ? most : list.format(here)}${waiting.length > 0 ? ' so far' : ''}${age}`;
}

/** The names of the parts that are there, on their way, or do not come. */
function stateOf(way: Way | undefined) {
  const names = Object.groupBy(PARTS, (part) =>
    way && failuresOf(way, part).length > 0
      ? 'blank'
      : way && rowsOf(way, part) !== null
        ? 'here'
        : 'waiting',
  );
  const of = (state: 'here' | 'waiting' | 'blank') =>
    (names[state] ?? []).map(({ name }) => name.toLowerCase());
  return { here: of('here'), waiting: of('waiting'), blank: of('blank') };
}

/** Prices move meanwhile, so that the figures differ. */
function namesOf(way: Way | undefined): string {
  const rows = PARTS.slice(1).flatMap((part) => (way && rowsOf(way, part)) ?? []);
  return JSON.stringify(rows.map(([name, about]) => [name, about]));
}
