import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { formatCount } from '../format.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';
import { USERS } from '../session.ts';
import type { OneScreen } from './one-screen.ts';
import { startPresets } from './presets.ts';

/** The console: the signed-in user, and the gateway's faults. */
export function startConsole(app: App, screen: OneScreen): void {
  startUsers(app);
  startFaults(app, screen);
}

function startUsers(app: App): void {
  const choice = find('console-users', HTMLElement);
  choice.append(
    ...USERS.map(({ email, about }) => {
      const radio = h('input', { type: 'radio', name: 'user', value: email });
      radio.checked = email === app.session.email;
      radio.addEventListener('change', async () => {
        await app.switchUser(email);
        await app.session.token({ force: false }).then(
          () => announce(`Signed in as ${app.session.email}.`),
          // The bar below the header says why nobody is.
          () => {},
        );
      });
      return h(
        'label',
        {},
        radio,
        h('span', {}, h('b', {}, email.split('@')[0] ?? ''), h('small', {}, about)),
      );
    }),
  );
}

function startFaults(app: App, screen: OneScreen): void {
  async function show(): Promise<void> {
    const faults = await sandbox.faults().catch(() => null);
    find('fault-none', HTMLElement).hidden = faults?.length !== 0;
    find('fault-list', HTMLElement).replaceChildren(
      ...(faults ?? []).map(({ operation, kind, times, forMs }) => {
        const often = times === undefined ? 'until cleared' : `for ${times} of the next calls`;
        const long = forMs === undefined ? often : `for ${forMs / 1_000} s`;
        return h('li', {}, h('code', {}, operation), `: ${kind}, ${long}`);
      }),
    );
  }

  const endPresets = startPresets(screen, show);
  onClick(find('fault-clear', HTMLButtonElement), async () => {
    // A preset says that it is over once the gateway fails no more.
    await sandbox.clearFaults().finally(endPresets);
    announce('All faults are cleared.');
    await show();
  });
  // Faults end by themselves too, which nobody has to be told who does not look.
  let isSeen = false;
  new IntersectionObserver(([entry]) => {
    isSeen = entry?.isIntersecting ?? false;
    if (isSeen) void show();
  }).observe(find('faults', HTMLElement));
  app.calls.onChange(() => {
    if (isSeen) void show();
    const { counts } = app.calls;
    setText(find('calls-total', HTMLElement), counts === null ? '–' : formatCount(counts.total));
  });
}
