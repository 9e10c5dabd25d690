import { expect, test } from 'vitest';
import { jsonItems } from '../../src/gateway/json-items.ts';

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
  ...[
    '[{},{}',
    '[{}],[{}]',
    '[{}]]',
    '[[{}]',
    '[1}',
    '{1]',
    '[{},{"a":}]',
    '[{"a":"},{]',
    '[{}},{}]',
    '[{}] x',
  ],
  '\ufeff[]',
];

// From pieces that end at every place of the text to one piece for all of it.
const PIECES = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 1_000];

test.each(ARRAYS)('%s has the items that JSON.parse finds, in pieces of any size', (text) => {
  for (const piece of PIECES) {
    expect([...jsonItems(Buffer.from(text), piece)]).toEqual(JSON.parse(text));
  }
});

test.each(OTHERS)('%j is not an array, in pieces of any size', (text) => {
  for (const piece of PIECES) {
    expect(() => [...jsonItems(Buffer.from(text), piece)]).toThrow(SyntaxError);
  }
});
