import type { Locator, Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { violations } from '../../support/browser-page.ts';
import { NOTE_SHIFTS, type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { linesOf } from '../operations/request-lines.ts';

const USERS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

describeInBrowser('the lanes of the demonstration page', (browser) => {
  const app = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });
  afterEach(() => app.sandbox.reset());

  async function open(options: VisitOptions = {}) {
    const visitor = await visit(browser, app.url, {
      isExpected: (problem) => /404|50\d/.test(problem),
      ...options,
    });
    const { page } = visitor;
    const mark = (lane: string, kind: string, label: RegExp | string = '') =>
      page.locator(`#lane-${lane} .${kind}`).and(page.getByRole('option', { name: label }));
    // The market moves by hand alone, and the first measurement precedes the gateway's lane.
    await page.locator('#live-rows tr').first().waitFor();
    await page.evaluate(
      'for (const each of document.querySelectorAll("details")) each.open = true',
    );
    await appears(mark('gateway', 'bar', /getOpenPositions · 200/));
    return { ...visitor, mark, words: page.locator('#lanes-words') };
  }
  const appears = (all: Locator) => all.first().waitFor();

  /** From where it is now back by this share of the minute. */
  async function drag(page: Page, back: number): Promise<void> {
    await page.locator('#lane-app').scrollIntoViewIfNeeded();
    const box = await page.locator('#lane-graph').boundingBox();
    if (box === null) throw new Error('The lane is not shown.');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width - 1, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * (1 - back), y, { steps: 8 });
    await page.mouse.up();
  }

  test('show calls, events, a retry and a fault, each with its details at the pointer and by the keyboard', async () => {
    await using visitor = await open();
    const { page, mark, words } = visitor;
    await appears(mark('app', 'bar', / · positions · [\d.,]+ k?B/));
    await mark('app', 'event', /event: the whole account/).waitFor();
    await appears(mark('graph', 'bar', / · graphql · behind it .*getSession/));

    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503, times: 2 });
    await visitor.click('Open both again');
    const fault = mark('gateway', 'fault', /fault: getCustomerId · status/).last();
    expect(await fault.textContent()).toBe('✕');
    const retry = mark('graph', 'retry', /retry: \d × getCustomerId/).first();
    expect(await retry.textContent()).toBe('↻');
    await mark('app', 'fault', /customer-id · 503/).waitFor();

    const legend = await words.textContent();
    await eventually(async () => {
      await fault.hover();
      expect(await words.textContent()).toMatch(/^\d\d:\d\d:\d\d · fault: getCustomerId · status/);
    });
    await page.mouse.move(0, 0);
    expect(await words.textContent()).toBe(legend);

    const lane = page.getByRole('listbox', { name: 'gateway' });
    await lane.focus();
    await page.keyboard.press('Home');
    const first = await words.textContent();
    const active = await lane.getAttribute('aria-activedescendant');
    expect(await page.locator(`#${active}`).getAttribute('aria-label')).toBe(first);
    await page.keyboard.press('ArrowRight');
    expect(await words.textContent()).not.toBe(first);
    await page.keyboard.press('ArrowLeft');
    expect(await words.textContent()).toBe(first);
    expect(await violations(page)).toEqual([]);
  });

  test('say when a breaker of the graph opens, and keep a minute and no more', async () => {
    await using visitor = await open();
    // Failures of one account alone open none, nor those of accounts that the gateway has never accepted.
    const tokens = USERS.map((email) => app.sandbox.token({ email }));
    for (const token of tokens) await app.query('{ session { login } }', { token });
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503 });
    await eventually(async () => {
      for (const token of tokens) await app.query('{ customerId }', { token });
      return linesOf(app, 'circuit breaker').length > 0;
    });
    // No more calls than that: a lane drops its oldest marks beyond a number of them.
    await appears(visitor.mark('graph', 'change', /open: the breaker of/));
    const { page } = visitor;
    const id = await page.locator('.marks > *').first().getAttribute('id');
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 61_000; }');
    await eventually(async () => expect(await page.locator(`#${id}`).count()).toBe(0));
  });

  test('go back in time by dragging: the list and the equity are as they were, and come back to now', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    await page.evaluate(NOTE_SHIFTS);
    const list = page.locator('#live-rows');
    const shown = async () => [
      await list.innerText(),
      await page.locator('#live-total').innerText(),
      await page.locator('#live-equity').innerText(),
    ];
    const before = await shown();
    app.sandbox.tick();
    await eventually(async () => expect((await shown())[0]).not.toBe(before[0]));
    const after = await shown();

    await drag(page, 0.9);
    await page.mouse.move(0, 0);
    expect((await shown()).slice(0, 2)).toEqual(before.slice(0, 2));
    const signs = await page.locator('.past-time').allInnerTexts();
    expect(signs).toHaveLength(2);
    for (const sign of signs) expect(sign).toMatch(/^as of \d\d:\d\d:\d\d$/);
    await reads('lanes-words', new RegExp(`^Equity .*, \\${before[1]}$`));

    // Events that come meanwhile change nothing of it.
    const events = () => page.locator('#lane-app .event').count();
    const heard = await events();
    app.sandbox.tick();
    await eventually(async () => expect(await events()).toBeGreaterThan(heard));
    expect((await shown())[0]).toBe(before[0]);
    await page.getByRole('link', { name: 'See the list' }).click();
    await page.locator('#live-title').waitFor();
    expect(await violations(page)).toEqual([]);

    await page.locator('#live').getByRole('button', { name: 'Back to live' }).click();
    await eventually(async () => ![before[0], after[0]].includes((await shown())[0]));
    const past = page.getByText(/^as of/).filter({ visible: true });
    expect(await past.count()).toBe(0);
    await visitor.hasNotMoved();
  });

  test('go back in time by the keyboard, and show the next user nothing of the former’s past', async () => {
    await using visitor = await open();
    const { page } = visitor;
    const range = page.getByRole('slider');
    await range.press('ArrowLeft');
    await eventually(async () =>
      expect(await range.getAttribute('aria-valuetext')).toMatch(/^as of /),
    );
    await range.press('End');
    expect(await range.getAttribute('aria-valuetext')).toBe('now');
    await range.press('Home');
    await page.getByRole('radio', { name: /^pro/ }).check();
    await eventually(async () => expect(await page.locator('#live-rows tr').count()).toBe(25));
    expect(await range.getAttribute('aria-valuetext')).toBe('now');
    await range.press('Home');
    expect(await page.locator('#live-rows tr').count()).toBe(25);
  });
});
