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
const OLD = `(?:, prices of ${TIME})?`;
const SAME = 'the same \\d+ positions, and the same orders and instruments';

/** A tap, the parts of the phones once they are drawn, and what is told of them. */
const TAPS: readonly (readonly [name: string, rest: string, graph: string, told: string])[] = [
  [
    'Session fails',
    'x#xx#',
    '#####',
    'REST S 2 of 5 parts, no equity, orders or watch list; the graph S 5 of 5 parts',
  ],
  [
    'Prices are garbage',
    '#x###',
    '#####',
    'REST S 4 of 5 parts, no positions; the graph S 5 of 5 parts',
  ],
  ['Gateway down', 'xxxxx', '####x', 'REST S 0 of 5 parts; the graph S 4 of 5 parts, no payout'],
];

/** A caption never claims that the phones are alike while they differ, nor the contrary. */
function expectTrue(samples: readonly Sample[]): void {
  for (const { rest, graph, caption } of samples) {
    expect(caption).not.toBe('');
    const [, ...counts] =
      /^REST shows (\d) of 5 .*; the graph shows (\d) of 5 /.exec(caption) ?? [];
    if (counts.length === 0) expect(rest, caption).toBe(graph);
    else expect(counts.map(Number), caption).toEqual([rest, graph].map(countOf));
  }
}

const countOf = (parts: string) => parts.replace(/[^#]/g, '').length;

describeInBrowser('a tap that breaks something', (browser) => {
  const app = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  test.each(VIEWPORTS)(
    'is told at $width px while it lasts and afterwards, as the phones show it',
    async (viewport) => {
      await using visitor = await visit(browser, app.url, { viewport, isExpected: () => true });
      const { page, sampled, reads } = visitor;
      await visitor.isLive();
      expect(await page.locator('#presets button b').allTextContents()).toHaveLength(TAPS.length);
      for (const [name, rest, graph, told] of Array(RUNS).fill(TAPS).flat() as typeof TAPS) {
        const button = page.locator('#presets button', { hasText: name });
        await sampled();
        await button.click();
        const seen = (tense: string) => `${told.replaceAll(' S ', ` ${tense} `)}${OLD}\\.$`;
        await reads('outage-verdict', new RegExp(`^${name}, since ${TIME}: ${seen('shows')}`));
        await reads('screen-verdict', new RegExp(`^${seen('shows')}`));
        const during = await sampled();
        expectTrue(during);
        expect(during.at(-1), name).toMatchObject({ rest, graph });
        await visitor.click('Clear all');
        const times = `${TIME} to ${TIME}`;
        await reads('outage-verdict', new RegExp(`^${name}, ${times}: ${seen('showed')}`));
        await reads('screen-verdict', new RegExp(`^Both phones show ${SAME}\\.$`));
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
        await visitor.click('Open both again');
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
