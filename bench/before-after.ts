/** What users saw on bad lines before, beside the figures of the page's tables. */

export const BEFORE_AFTER_HEAD = ['tried', 'before', 'now'];

/** A cell of a table: the row by its first cells, then the column. */
interface Cell {
  readonly of: 'table' | 'returns' | 'events' | 'battery' | 'guides' | 'phones';
  readonly row: readonly string[];
  readonly column: number;
}

const STRANDED = 'the address changes, and nobody says so';
const ONLINE = 'the address changes, and the platform says that it is back online';
const PORTAL = 'a captive portal answers for 30 s; from its end';
const LIVE_FOR_EVER = '“LIVE” for ever on a dead line: no event in 150 s, no error';
const SLOWEST = ['2.5', '2000 ms', '0 %'];

const returns = (what: string, over: string): Cell => ({
  of: 'returns',
  row: [what, over],
  column: 2,
});
const guides = (what: string, app: string): Cell => ({ of: 'guides', row: [what, app], column: 2 });
const slowest = (column: number): Cell => ({ of: 'table', row: SLOWEST, column });
const events = (moved: string, column: number): Cell => ({
  of: 'events',
  row: ['`positions`, five fields', moved],
  column,
});
const battery = (heartbeat: string, column: number): Cell => ({
  of: 'battery',
  row: ['positions', 'a WebSocket', heartbeat],
  column,
});
const phones = (what: string): Cell => ({ of: 'phones', row: [what], column: 2 });

const ROWS: readonly (readonly [string, string, readonly (string | Cell)[]])[] = [
  [
    `${STRANDED}: Apollo Client with its own links`,
    LIVE_FOR_EVER,
    [guides(STRANDED, 'Apollo Client with its own links')],
  ],
  [
    `${STRANDED}: urql`,
    LIVE_FOR_EVER,
    ['LIVE again after ', returns(STRANDED, 'a WebSocket'), ': the guide is over the package'],
  ],
  [
    `${STRANDED}: a native client`,
    LIVE_FOR_EVER,
    [guides(STRANDED, 'Java, after which Kotlin and Swift are written')],
  ],
  [
    '30 s of `200 text/html` from a portal',
    'Apollo’s link and raw `subscribe` ended for good; the storage preferred streams for a day',
    [
      'LIVE ',
      returns(PORTAL, 'a WebSocket'),
      ' after its end, ',
      returns(PORTAL, 'an event stream'),
      ' over a stream; nothing is stored',
    ],
  ],
  [
    'React Native by the guide, flight mode, Buy',
    '“may have been carried out” after 30 s',
    [guides('flight mode, Buy', 'React Native')],
  ],
  [
    '20 kbit/s, 2 s round trips: the catalog',
    '297 kB, with descriptions on every phone',
    [slowest(7)],
  ],
  ['the same: its first rows', '24 s', [slowest(6)]],
  [
    'the same: first LIVE',
    '17.8 s',
    [slowest(11), '; at the very first start, without a hint, ', slowest(3)],
  ],
  [
    'a dead socket after “back online”',
    'pinged for 5 s first; stale prices LIVE for up to 26 s',
    ['LIVE again after ', returns(ONLINE, 'a WebSocket')],
  ],
  [
    'a quiet market, the app in front, 180 s',
    '18 bursts, radio on 94 %, whatever was set',
    [
      battery('15 s', 3),
      ' bursts, ',
      battery('15 s', 4),
      '; with `heartbeatSeconds: 30` ',
      battery('30 s', 3),
      ', ',
      battery('30 s', 4),
    ],
  ],
  [
    'an event of one changed price, 25 positions',
    '2.9 kB plain, 953 B packed',
    [
      events('1', 2),
      ' plain with five fields; all 25 moved ',
      events('25', 2),
      ', ',
      events('25', 3),
      ' packed',
    ],
  ],
  [
    'a slow CPU, first search',
    'stops of 215 to 490 ms; with 45,000 instruments 2 s',
    [
      'here at most ',
      phones('5,000 instruments: the longest stop for the first search'),
      ', ',
      phones('45,000 instruments: the longest stop for the first search'),
    ],
  ],
  [
    'a store that is full',
    'a partial copy stays',
    [phones('a store that is full: parts of a copy that stay'), ' parts stay'],
  ],
  [
    'the Kotlin page',
    'did not compile; no token, no end',
    ['its Java is run by tests, [native.md](native.md) says what was compiled'],
  ],
];

/** The rows, by the tables that are on the page. A figure that is not there is an error: run its part first. */
export function beforeAfter(page: string): string[][] {
  return ROWS.map(([tried, before, parts]) => [
    tried,
    before,
    parts.map((part) => (typeof part === 'string' ? part : cellOf(page, part))).join(''),
  ]);
}

function cellOf(page: string, { of, row, column }: Cell): string {
  const rows = (page.split(`<!-- ${of} -->`)[1] ?? '')
    .split('\n')
    .map((line) => line.slice(2, -2).split(' | '));
  const cell = rows.find((cells) => row.every((text, at) => cells[at] === text))?.[column];
  if (cell === undefined) throw new Error(`the page has no ${of} of ${row.join(', ')}`);
  return cell;
}
