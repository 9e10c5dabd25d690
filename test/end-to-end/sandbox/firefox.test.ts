import { expect, test } from 'vitest';
import { DESKTOP, PHONE } from '../../support/demo-visit.ts';
import { describeWithFirefox } from '../../support/describe-with.ts';
import { startFirefox } from '../../support/firefox.ts';
import { ownApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';

describeWithFirefox('in Firefox', (path) => {
  // A new app, because a reset sandbox has other orders than the service has cached.
  const app = ownApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });
  const firefox = startedOnce(() => startFirefox(path));
  const says = (id: string, pattern: RegExp) =>
    firefox.holds(`${pattern}.test(document.getElementById('${id}')?.textContent)`);
  const click = (selector: string) =>
    firefox.value(`document.querySelector('${selector}').click()`);

  test.each([DESKTOP, PHONE])(
    'the page at $width px compares, follows the account and reports an order',
    async (viewport) => {
      await firefox.resize(viewport);
      await firefox.goto(app.url);
      await says(
        'screen-verdict',
        /^Both phones show the same 6 positions, and the same orders and instruments/,
      );
      await firefox.holds(`document.querySelectorAll('#live-rows tr').length === 6`);
      await firefox.holds(`document.querySelector('#live .live-status').textContent === 'LIVE'`);
      expect(await firefox.value('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(firefox.problems).toEqual([]);
      await click('#outages button');
      await says(
        'screen-verdict',
        /REST shows 0 of 5 parts; the graph shows 4 of 5 parts, no payout/,
      );
      await says('outage-verdict', /REST showed 0 of 5 parts; the graph showed 4 of 5/);
      await says('screen-verdict', /^Both phones show the same 6/);
      await click('#order-place');
      await says('order-title', /^Accepted$/);
    },
  );

  test('GraphiQL runs an operation', async () => {
    await firefox.goto(`${app.url}/graphql?query=${encodeURIComponent('{ session { balance } }')}`);
    await firefox.holds(`document.querySelector('.graphiql-query-editor .CodeMirror-code')`);
    await firefox.holds(`document.querySelector('.graphiql-execute-button')`);
    await click('.graphiql-execute-button');
    await firefox.holds(`document.querySelector('.result-window').textContent.includes('balance')`);
    expect(firefox.problems).toEqual([]);
  });
});
