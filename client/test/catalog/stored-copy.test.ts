import { expect, test } from 'vitest';
import { CatalogCopy } from '../../src/catalog/catalog-copy.ts';
import type { KeyFields } from '../../src/catalog/instrument.ts';
import { fromText, ownerOf, storageKey, toText } from '../../src/catalog/stored-copy.ts';

const OWNER = { login: '700001', group: 'standard-usd' };
const FIELDS = 'id symbol name description';
const ROW: KeyFields = { id: 'A', symbol: 'A', name: 'Triple A', description: '' };

/** A text with a checksum that fits, whatever its content is. */
function textOf(changed: {
  version?: unknown;
  all?: unknown;
  ageSeconds?: unknown;
  atMs?: unknown;
}) {
  const { version = 'v1', all = [ROW], ageSeconds = 0, atMs = 0 } = changed;
  return toText(OWNER, FIELDS, { copy: { version, all }, ageSeconds, atMs } as never);
}

test('a copy is what was stored', () => {
  const copy = new CatalogCopy('v1', new Map([[ROW.id, ROW]]));
  const text = toText(OWNER, FIELDS, { copy, ageSeconds: 7, atMs: 9 });
  expect(fromText(OWNER, FIELDS, text)).toMatchObject({ ageSeconds: 7, atMs: 9 });
  expect(fromText(OWNER, FIELDS, text)?.copy.all).toEqual([ROW]);
  expect(fromText(OWNER, FIELDS, textOf({}))?.copy.version).toBe('v1');
});

test.each([
  ['a version that is no text', { version: 5 }],
  ['a version that is empty', { version: '' }],
  ['instruments that are no list', { all: { 0: ROW } }],
  ['an instrument without its name', { all: [{ ...ROW, name: undefined }] }],
  ['an instrument that is none', { all: [null] }],
  ['an age below zero', { ageSeconds: -1 }],
  ['an age that is no number', { ageSeconds: 'old' }],
  ['a time below zero', { atMs: -1 }],
  ['a time that is no number', { atMs: null }],
])('another version of this package may have stored %s: it is not read', (_what, changed) => {
  expect(fromText(OWNER, FIELDS, textOf(changed))).toBeNull();
});

test.each<[string, (text: string) => string]>([
  ['empty', () => ''],
  ['rubbish', () => 'rubbish'],
  ['null', () => 'null'],
  ['cut off', (text) => text.slice(0, text.length / 2)],
  ['the end alone', (text) => text.slice(text.length / 2)],
  ['its head missing', (text) => text.slice(text.indexOf('\n') + 1)],
  ['of another version', (text) => text.replace('"v1"', '"v2"')],
  ['a letter missing', (text) => text.replace('Triple', 'Tripe')],
  ['twice', (text) => text + text],
])('a text that is damaged is not read: %s', (_what, damage) => {
  expect(fromText(OWNER, FIELDS, damage(textOf({})))).toBeNull();
});

test('a text is read for its own account, group and fields alone', () => {
  const text = textOf({});
  expect(fromText({ ...OWNER, login: '700002' }, FIELDS, text)).toBeNull();
  expect(fromText({ ...OWNER, group: 'pro-usd' }, FIELDS, text)).toBeNull();
  expect(fromText(OWNER, 'id', text)).toBeNull();
});

test('the key of a copy names its owner, and no other key does', () => {
  expect(ownerOf(storageKey(OWNER))).toEqual(OWNER);
  for (const key of [
    '',
    storageKey(OWNER).slice(1),
    'trading-graph:catalog:[1,2]',
    'trading-graph:catalog:x',
  ]) {
    expect(ownerOf(key)).toBeNull();
  }
});
