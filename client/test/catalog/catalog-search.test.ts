import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { openPhone } from '../support/catalog-phone.ts';

/** The searches of one request: one in each took a busy machine more than a minute. */
const AT_ONCE = 50;

const [MAX_COST, MAX_ALIASES] = ['100000', String(AT_ONCE)];
const app = sharedApp({ SANDBOX_INSTRUMENTS: '1500', MAX_COST, MAX_ALIASES });
let phone: ReturnType<typeof openPhone>;
beforeAll(async () => {
  phone = openPhone(app);
  await phone.catalog.load();
});
afterAll(() => phone.core.dispose());

function found(text: string, limit = 500): string[] {
  return phone.catalog.search(text, { limit }).map(({ id }) => id);
}

/** The symbols that the server finds for each of the texts. */
async function foundByServer(texts: readonly string[]): Promise<[string, string[]][]> {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const fields = texts.map((text, at) => {
    const filter = `{ search: ${JSON.stringify(text)} }`;
    return `a${at}: instruments(first: 500, filter: ${filter}) { nodes { id } }`;
  });
  const { data } = await app.query(`{ ${fields.join(' ')} }`, { token });
  return texts.map((text, at) => [text, data[`a${at}`].nodes.map(({ id }: { id: string }) => id)]);
}

/** Words of the catalog itself: whole, cut off, and with each kind of typo. */
function searches(): string[] {
  const texts = phone.catalog.all
    .filter((_instrument, at) => at % 60 === 0)
    .flatMap(({ symbol, name, description }) => [
      symbol,
      symbol.slice(0, 2),
      name,
      ...name.split(' ').slice(0, 2),
      ...description.split(' ').slice(0, 3),
    ]);
  return texts.flatMap((text) => [
    text,
    text.slice(0, -1),
    text.slice(0, 3) + text.slice(4),
    `${text.slice(0, 3)}x${text.slice(3)}`,
    `${text.slice(0, 2)}q${text.slice(3)}`,
    text.slice(0, 2) + (text[3] ?? '') + (text[2] ?? '') + text.slice(4),
  ]);
}

describe('searching', () => {
  test('finds what the server finds, in the same order, and sends nothing', async () => {
    const sentBefore = phone.sent.length;
    const all = new Set([
      ...searches(),
      'a',
      'e',
      'gold',
      'micrsoft',
      'brk.b',
      'eur/usd',
      'EUR USD',
      'usd',
      'jpy',
      'nestle',
      'Nestlé',
      ' apple  inc ',
      'inc apple',
      '...',
      '%',
      'nothing of the kind',
      'x'.repeat(200),
      'a b c d e f g h i j',
    ]);
    const texts = [...all].filter((text) => text.trim() !== '');
    for (let at = 0; at < texts.length; at += AT_ONCE) {
      const some = texts.slice(at, at + AT_ONCE);
      expect(some.map((text) => [text, found(text)])).toEqual(await foundByServer(some));
    }
    expect(phone.sent.length).toBe(sentBefore);
  });

  test('finds at most as many as are wanted, twenty by default; without a text the first ones', () => {
    expect(phone.catalog.search('a')).toHaveLength(20);
    expect(found('a', 3)).toEqual(found('a').slice(0, 3));
    expect(found('a', 0)).toEqual([]);
    expect(found('a', -1)).toEqual([]);
    const first = phone.catalog.all.slice(0, 20);
    for (const none of ['', '  ']) expect(phone.catalog.search(none)).toEqual(first);
  });
});

describe('the words of a search', () => {
  test('are found out in pieces between which other work goes on, by the time that each takes', async () => {
    let readings = 0;
    using slow = openPhone(app, {
      uptime: () => {
        readings += 1;
        return readings;
      },
    });
    await slow.catalog.load();
    await eventually(() => expect(slow.environment.timers.size).toBe(0));
    const pieces = slow.environment.pauses.filter((ms) => ms === 0);
    // A row costs this clock a millisecond, and a piece has eight.
    expect(pieces).toHaveLength(Math.ceil(1_501 / 7));
    readings = 0;
    expect(slow.catalog.search('aapl')[0]?.id).toBe('AAPL');
    expect(readings).toBe(0);
  });

  test('are complete for a search that comes before', async () => {
    using early = openPhone(app, { hurry: (ms) => (ms === 0 ? 60_000 : ms) });
    await early.catalog.load();
    expect(early.environment.timers.size).toBe(1);
    for (const text of ['zealand', 'usd jpy', 'micrsoft', 'inc apple']) {
      expect(early.catalog.search(text)).toEqual(phone.catalog.search(text));
    }
    early.core.dispose();
    expect(early.environment.timers.size).toBe(0);
  });
});
