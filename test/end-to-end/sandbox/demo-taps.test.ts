import { afterEach, beforeEach, expect, test } from 'vitest';
import { networkAddress } from '../../../src/app/network-address.ts';
import { DESKTOP, NOTE_SHIFTS, PHONE, type Sample, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';

/** Twenty of each tap at the least. */
const RUNS = inFull(7, 1);
const VIEWPORTS = inFull([DESKTOP, PHONE, { width: 320, height: 700 }], [PHONE]);
const TIME = '\\d\\d:\\d\\d:\\d\\d';
const SAME = 'the same \\d+ positions, orders and instruments';
const RESUMED = '; the live account below resumes from its last event';
const OLD = `(?:, with prices of ${TIME})?`;

interface Tap {
  readonly name: string;
  /** The parts of the phones once they are drawn. */
  readonly rest: string;
  readonly graph: string;
  readonly shows: string;
  readonly showed: string;
  /** With the first answer, which is told without another measurement. */
  readonly isOverByItself?: true;
}

const same = (name: string, note = ''): Tap => ({
  name,
  rest: '#####',
  graph: '#####',
  shows: `both phones show ${SAME}: no difference here${note}`,
  showed: `both phones showed ${SAME}: no difference here${note}`,
});
const TAPS: readonly Tap[] = [
  {
    name: 'Gateway down',
    rest: 'xxxxx',
    graph: '####x',
    shows: `REST shows nothing; the graph shows all but payout${OLD}`,
    showed: `REST showed nothing; the graph showed all but payout${OLD}`,
  },
  same('Payments slow'),
  {
    name: 'Prices are garbage',
    rest: '#x###',
    graph: '#####',
    shows: `REST shows all but positions; the graph shows all${OLD}`,
    showed: `REST showed all but positions; the graph showed all${OLD}`,
  },
  same('Order answers get lost', '; an order placed meanwhile shows one'),
  {
    name: 'My connection drops',
    rest: 'xxxxx',
    graph: 'xxxxx',
    shows: `neither phone shows anything: no difference here${RESUMED}`,
    showed: `neither phone showed anything: no difference here${RESUMED}`,
  },
  {
    ...same('My token is revoked', '; both apps sign in again, the graph for one refused call'),
    isOverByItself: true,
  },
];

/** A caption never claims that the phones are alike while they differ, nor the contrary. */
function expectTrue(samples: readonly Sample[]): void {
  for (const { rest, graph, caption } of samples) {
    expect(caption).not.toBe('');
    // While the phones are drawn anew, what is told is what they showed before.
    if (/\bshowed\b/.test(caption)) continue;
    const saysTwo = /REST shows .*; the graph shows /.test(caption);
    expect(saysTwo, `${rest} ${graph} ${caption}`).toBe(rest !== graph);
    if (/REST shows nothing/.test(caption)) expect(rest).not.toContain('#');
    if (/graph shows all(?:,|\.)/.test(caption)) expect(graph).toBe('#####');
  }
}

describeInBrowser('a tap that breaks something', (browser) => {
  const app = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  test.each(VIEWPORTS)(
    'is told at $width px while it lasts and afterwards, as the phones show it',
    async (viewport) => {
      await using visitor = await visit(browser, app.url, { viewport, isExpected: () => true });
      const { page, sampled } = visitor;
      await visitor.isLive();
      for (const tap of Array(RUNS).fill(TAPS).flat() as Tap[]) {
        const { name, rest, graph, shows, showed, isOverByItself } = tap;
        const button = page.locator('#presets button', { hasText: name });
        await sampled();
        await button.click();
        const since = `${name}: since ${TIME} ${shows}\\.`;
        const past = `${name}, ${TIME} to ${TIME}: ${showed}\\.`;
        await visitor.reads('screen-verdict', new RegExp(`^${isOverByItself ? past : since}$`));
        const during = await sampled();
        expectTrue(during);
        expect(during.at(-1), name).toMatchObject({ rest, graph });
        const told = during.filter(({ caption }) => caption.startsWith(`${name}: since`));
        expect(told.length, name).toBeGreaterThan(1);
        if (name === 'Payments slow') {
          // The account is there before the payout is, on both.
          for (const phone of ['rest', 'graph'] as const) {
            expect(during.some((sample) => /^#.*\.$/.test(sample[phone]))).toBe(true);
          }
        }
        await visitor.click('Clear all');
        const now = isOverByItself ? '' : ` Now both phones show ${SAME}\\.`;
        await visitor.reads('screen-verdict', new RegExp(`^${past}${now}$`));
        expectTrue(await sampled());
        await eventually(async () => !(await button.getAttribute('class'))?.includes('running'));
      }
      await page.evaluate(NOTE_SHIFTS);
      await visitor.hasNotMoved();
      await visitor.isSound();
    },
    1_200_000,
  );
});

const address = networkAddress();

describeInBrowser('the page on another machine', (browser) => {
  const app = sharedApp({ HOST: address ?? '127.0.0.1', LOGIN_LIMIT_PER_MINUTE: '1000' });

  test.skipIf(address === null).each(VIEWPORTS)(
    'at $width px plays one recorded account on both phones, asks for nothing that it is refused, and does not move',
    async (viewport) => {
      await using visitor = await visit(browser, app.url, { viewport });
      const { page, sampled } = visitor;
      const answers: number[] = [];
      page.on('response', (response) => answers.push(response.status()));
      await visitor.isLive();
      for (let run = 0; run < inFull(20, 2); run += 1) {
        await visitor.click('Run');
        await visitor.reads('screen-verdict', new RegExp(`^Both phones show ${SAME}\\.$`));
        await visitor.isDrawn();
        expectTrue(await sampled());
      }
      const texts = await page.locator('.phone').allInnerTexts();
      expect(texts[0]).toBe(texts[1]);
      expect(texts[0]).toMatch(/Positions 6/);
      expect(await page.locator('.unrecorded').filter({ visible: true }).count()).toBe(0);
      // The next look at the server has been answered as well.
      await page.waitForResponse((response) => response.request().method() === 'HEAD');
      expect(answers.filter((status) => status >= 400)).toEqual([]);
      await page.evaluate(NOTE_SHIFTS);
      await visitor.hasNotMoved();
      await visitor.isFlawless();
    },
    600_000,
  );
});
