import { expect, test } from 'vitest';
import type { KeyFields } from '../../src/catalog/instrument.ts';
import {
  contentOf,
  entryKey,
  entryOf,
  headOf,
  ownerOf,
  storageKey,
  toText,
} from '../../src/catalog/stored-copy.ts';

const OWNER = { login: '700001', group: 'standard-usd' };
const FIELDS = 'id symbol name description';
const ROW: KeyFields = { id: 'A', symbol: 'A', name: 'Triple A', description: '' };
const ENTRY = { version: 'v1', rows: [ROW] };
const HEAD = { version: 'v1', ageSeconds: 7, atMs: 9, entries: [{ version: 'v1', ids: ['A'] }] };

const FORMS = [
  { of: headOf, content: HEAD },
  { of: entryOf, content: ENTRY },
] as const;
const textOf = (content: object) => toText(OWNER, FIELDS, content as typeof ENTRY);
const headIn = (text: string) => headOf(contentOf(OWNER, FIELDS, text));
const entryIn = (text: string) => entryOf(contentOf(OWNER, FIELDS, text));

test('a head and an entry are what was stored', () => {
  expect(headIn(textOf(HEAD))).toEqual(HEAD);
  expect(entryIn(textOf(ENTRY))).toEqual(ENTRY);
});

test.each([
  ['a version that is no text', { version: 5 }],
  ['a version that is empty', { version: '' }],
  ['entries that are no list', { entries: { 0: HEAD.entries[0] } }],
  ['an entry without a version', { entries: [{ ids: [] }] }],
  ['an entry without ids', { entries: [{ version: 'v1' }] }],
  ['an id that is no text', { entries: [{ version: 'v1', ids: [5] }] }],
  ['an age below zero', { ageSeconds: -1 }],
  ['an age that is no number', { ageSeconds: 'old' }],
  ['a time below zero', { atMs: -1 }],
  ['a time that is no number', { atMs: null }],
  ['another format', { format: 1 }],
])('another version of this package may have stored %s: the head is not read', (_what, changed) => {
  expect(headIn(textOf({ ...HEAD, ...changed }))).toBeNull();
});

test.each([
  ['a version that is no text', { version: 5 }],
  ['instruments that are no list', { rows: { 0: ROW } }],
  ['an instrument without its name', { rows: [{ ...ROW, name: undefined }] }],
  ['an instrument that is none', { rows: [null] }],
])(
  'another version of this package may have stored %s: the entry is not read',
  (_what, changed) => {
    expect(entryIn(textOf({ ...ENTRY, ...changed }))).toBeNull();
  },
);

test.each<[string, (text: string) => string]>([
  ['empty', () => ''],
  ['rubbish', () => 'rubbish'],
  ['null', () => 'null'],
  ['cut off', (text) => text.slice(0, text.length / 2)],
  ['the end alone', (text) => text.slice(text.length / 2)],
  ['twice', (text) => text + text],
])('a text that is damaged is not read: %s', (_what, damage) => {
  expect(headIn(damage(textOf(HEAD)))).toBeNull();
  expect(entryIn(damage(textOf(ENTRY)))).toBeNull();
});

test('a text is read for its own account, group and fields alone', () => {
  for (const { of, content } of FORMS) {
    const text = textOf(content);
    expect(of(contentOf({ ...OWNER, login: '700002' }, FIELDS, text))).toBeNull();
    expect(of(contentOf({ ...OWNER, group: 'pro-usd' }, FIELDS, text))).toBeNull();
    expect(of(contentOf(OWNER, 'id', text))).toBeNull();
  }
});

test('the key of a head names its owner, and no other key does', () => {
  expect(ownerOf(storageKey(OWNER))).toEqual(OWNER);
  for (const key of [
    '',
    storageKey(OWNER).slice(1),
    entryKey(OWNER, 0),
    'trading-graph:catalog:[1,2]',
    'trading-graph:catalog:x',
  ]) {
    expect(ownerOf(key)).toBeNull();
  }
});
