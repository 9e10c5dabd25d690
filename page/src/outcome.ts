import { formatMs, formatTime, plural } from './format.ts';
import { failuresOf, PARTS, rowsOf } from './phone.ts';
import { endOf, type Failure, type Way } from './start-screen.ts';

export function isWhole(way: Way): boolean {
  return PARTS.every((part) => failuresOf(way, part).length === 0);
}

/** One sentence about what came and what did not, by the names of the parts and the reasons that were given. */
export function outcomeOf(way: Way): string {
  const blank = PARTS.filter((part) => failuresOf(way, part).length > 0);
  const why = whyOf(blank.flatMap((part) => failuresOf(way, part)));
  if (blank.length === PARTS.length) return `blank: ${why}`;
  const { session } = way.data;
  const age = session?.fetchedAt
    ? Math.floor((Date.now() - Date.parse(session.fetchedAt)) / 1_000)
    : 0;
  const came = `${PARTS.length - blank.length} of ${PARTS.length} parts`;
  const old = age > 0 ? `, equity ${age} s old` : '';
  if (blank.length === 0) return `${came} after ${formatMs(endOf(way.calls))}${old}`;
  return `${came}${old}; blank: ${blank.map(({ name }) => name.toLowerCase()).join(', ')} (${why})`;
}

/** Names the part that both phones still wait for while the rest of the screen is there; empty before that. */
export function onTheWay(ways: readonly Way[]): string {
  const waiting = PARTS.filter((part) =>
    ways.every((way) => rowsOf(way, part) === null && failuresOf(way, part).length === 0),
  );
  if (ways.length < 2 || waiting.length === 0 || waiting.length > 1) return '';
  return `${waiting[0]?.name} is on its way; both phones show the rest.`;
}

/** The calls that failed, by their reasons. */
function whyOf(failures: readonly Failure[]): string {
  const reasons = [...Map.groupBy(failures, ({ reason }) => reason)].map(([reason, ofReason]) => {
    const calls = [...new Set(ofReason.flatMap(({ call }) => call ?? []))];
    return calls.length === 0 ? reason : `${calls.join(', ')} failed: ${reason}`;
  });
  return reasons.join('; ');
}

/** Says in a sentence what the two phones show: that they show the same, or what each of them lacks and how old the rest is. */
export function comparisonOf(rest: Way, graph: Way): string {
  const lacking = { rest: blankOf(rest), graph: blankOf(graph) };
  if (lacking.rest.length + lacking.graph.length > 0) {
    return lacking.rest.join() === lacking.graph.join()
      ? `No difference here: ${lacking.rest.length === PARTS.length ? 'neither phone shows anything' : `both phones lack ${listed(lacking.rest)}`}.`
      : `REST ${shownOf(rest)}; the graph ${shownOf(graph)}.`;
  }
  const count = rest.data.positions?.length ?? 0;
  return namesOf(rest) === namesOf(graph)
    ? `Both phones show the same ${plural(count, 'position')}, orders and instruments.`
    : 'The two differ: something has changed in the account in between.';
}

function shownOf(way: Way): string {
  const blank = blankOf(way);
  if (blank.length === PARTS.length) return 'shows nothing';
  const { fetchedAt } = way.data.session ?? {};
  const asOf = fetchedAt ? `, as of ${formatTime(new Date(fetchedAt))}` : '';
  if (blank.length === 0) return `shows all${asOf}`;
  const here = PARTS.map(({ name }) => name.toLowerCase()).filter((name) => !blank.includes(name));
  return `shows ${listed(here)}${asOf}`;
}

function blankOf(way: Way): readonly string[] {
  return PARTS.filter((part) => failuresOf(way, part).length > 0).map(({ name }) =>
    name.toLowerCase(),
  );
}

const list = new Intl.ListFormat('en');
const listed = (names: readonly string[]) => list.format(names);

/** Prices move meanwhile, so that the figures differ. */
function namesOf(way: Way): string {
  const rows = PARTS.slice(1).flatMap((part) => rowsOf(way, part) ?? []);
  return JSON.stringify(rows.map(([name, about]) => [name, about]));
}
