import { expect, test } from 'vitest';
import { jsonItems, jsonObject } from '../../src/gateway/json-items.ts';

const ROWS = [
  { id: 'a', hours: { regular: ['1-2'], swaps: [{ long: 1 }, { long: 2 }] } },
  { id: '},{', text: '"}, {\\', name: 'Nestlé 🎉' },
  { text: '],[{},{' },
];

const ARRAYS = [
  '[]',
  ' [\n] ',
  '[1]',
  '[1,"},{",null,[{},{}]]',
  '[{}]',
  '[{},{}]',
  JSON.stringify(ROWS),
  JSON.stringify(ROWS, null, 2),
  `\r\n\t${JSON.stringify([...ROWS, ...ROWS])} `,
];

const OTHERS = [
  ...['', ' ', '[', '][', '{}', 'null', '"[]"', '7', '[,]', '[{},]', '[{}, ]', '[,{}]', '[{}{}]'],
  ...['[{},{}', '[{}],[{}]', '[{}]]', '[[{}]', '[{},{"a":}]', '[{"a":"},{]', '[{}},{}]', '[{}] x'],
  '\ufeff[]',
];

// From pieces that end in each place of the text to one that holds it all.
const PIECES = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 1_000];

test.each(ARRAYS)('%s has the items that JSON.parse finds, whatever the pieces', (text) => {
  for (const piece of PIECES) {
    expect([...jsonItems(Buffer.from(text), piece)]).toEqual(JSON.parse(text));
  }
});

test.each(OTHERS)('%j is no array, whatever the pieces', (text) => {
  for (const piece of PIECES) {
    expect(() => [...jsonItems(Buffer.from(text), piece)]).toThrow(SyntaxError);
  }
});

/** The object as JSON.parse has it, with the lists as they are read; null where it is none beyond doubt. */
function objectOf(text: string, piece: number): unknown {
  const lists = { rows: [] as unknown[], more: [] as unknown[] };
  const add = {
    rows: (row: unknown) => lists.rows.push(row),
    more: (row: unknown) => lists.more.push(row),
  };
  const reading = jsonObject(Buffer.from(text), add, piece);
  try {
    let next = reading.next();
    while (!next.done) next = reading.next();
    const read = Object.entries(lists).filter(([, list]) => list.length > 0);
    return { ...next.value, ...Object.fromEntries(read) };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const rows = JSON.stringify(ROWS);

test.each([
  [`{"rows":${rows}}`],
  [`{"a":{"b":[1]},"rows": ${JSON.stringify(ROWS, null, 2)} ,\n "more":${rows},"c":"]}"}`],
  [`{"rows":[],"more":[]}`],
  [`{"more":${rows},"rows":[{}],"c":null}`],
  ['{"a":1}'],
])('%s is the object that JSON.parse finds, whatever the pieces', (text) => {
  for (const piece of PIECES) expect(objectOf(text, piece)).toEqual(JSON.parse(text));
});

test.each([
  `{"rows":${rows}`,
  `{"rows":${rows}]}`,
  `{"rows":${rows},"a":{"rows":[{}]}}`,
  `{"rows":[{}],"rows":${rows}}`,
  `{"a":{"rows":${rows}}}`,
  `{"rows":[{"id":"a},{"id":"b"}]}`,
  `[{"rows":${rows}}]`,
])('%s is not read as such an object', (text) => {
  for (const piece of PIECES) expect(objectOf(text, piece)).toBeNull();
});
