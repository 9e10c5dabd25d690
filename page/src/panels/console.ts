import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { TWO_CALLS } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatCount } from '../format.ts';
import { onClick } from '../on-click.ts';
import { type Fault, type FaultKind, sandbox } from '../sandbox.ts';
import { USERS } from '../session.ts';
import type { OneScreen } from './one-screen.ts';
import { startPresets } from './presets.ts';

const KINDS: Readonly<Record<FaultKind, string>> = {
  delay: 'answers late',
  status: 'answers 503',
  'reset-before': 'resets the connection',
  'reset-after': 'does it, and loses the answer',
  garbage: 'answers no JSON',
  empty: 'answers nothing at all',
  html: 'answers a page',
  cut: 'answers half of it',
  'cut-head': 'answers half a head',
  hang: 'never answers',
  drip: 'answers byte by byte',
  oversize: 'answers 20 MB',
  'gzip-bomb': 'answers what unpacks to 20 MB',
  redirect: 'answers with a redirect',
  revoke: 'refuses the token for good',
  clock: 'answers with a clock 2 h ahead',
};
const OPTIONS: Partial<Readonly<Record<FaultKind, Partial<Fault>>>> = {
  delay: { delayMs: 2_000 },
  status: { status: 503 },
  oversize: { bytes: 20_000_000 },
  'gzip-bomb': { bytes: 20_000_000 },
  clock: { shiftSeconds: 7_200 },
};
const FLASH_MS = 600;

/** The console: the signed-in user, the gateway's faults, and the number of its calls. */
export function startConsole(app: App, screen: OneScreen): void {
  new CodeBox('console-code', app, {
    document: TWO_CALLS,
    client: `const { data, errors } = await client.query(\`${TWO_CALLS}\`);
console.log(data);
// A field that failed is in errors, beside the data of the others.
for (const { code, path, retryable } of errors) console.log(code, path, retryable);`,
  });
  startUsers(app);
  startFaults(app, screen);
  startCalls(app);
}

function startUsers(app: App): void {
  const choice = find('console-users', HTMLElement);
  choice.append(
    ...USERS.map(({ email, about }) => {
      const radio = h('input', { type: 'radio', name: 'user', value: email });
      radio.checked = email === app.session.email;
      radio.addEventListener('change', async () => {
        await app.switchUser(email);
        announce(`Signed in as ${email}.`);
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
  const form = find('fault-form', HTMLFormElement);
  const list = find('fault-list', HTMLElement);

  async function show(): Promise<void> {
    const faults = await sandbox.faults().catch(() => null);
    const none = find('fault-none', HTMLElement);
    none.hidden = faults?.length !== 0;
    if (faults === null) return;
    list.replaceChildren(
      ...faults.map(({ operation, kind, times, forMs, delayMs }) => {
        const often = times === undefined ? 'until cleared' : `for ${times} of the next calls`;
        const long = forMs === undefined ? often : `for ${forMs / 1_000} s`;
        const late = kind === 'delay' ? ` by ${(delayMs ?? 0) / 1_000} s` : '';
        return h(
          'li',
          {},
          h('code', {}, operation === '*' ? 'every operation' : operation),
          ` ${KINDS[kind]}${late}, ${long}`,
        );
      }),
    );
  }

  const endPresets = startPresets(app, screen, show);
  find('fault-kind', HTMLSelectElement).append(
    ...Object.entries(KINDS).map(([value, words]) => h('option', { value }, words)),
  );
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('fault-add', HTMLButtonElement), async () => {
    const data = new FormData(form);
    const times = Number(data.get('times'));
    const kind = data.get('kind') as FaultKind;
    const operation = String(data.get('operation'));
    await sandbox.fail({ operation, kind, ...OPTIONS[kind], ...(times > 0 && { times }) });
    announce('The fault is set.');
    await show();
  });
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
  app.calls.onChange(() => void (isSeen && show()));
}

function startCalls({ calls }: App): void {
  const rows = new Map(
    [...document.querySelectorAll<HTMLElement>('#calls [data-operation]')].map((row) => [
      row.dataset.operation ?? '',
      row,
    ]),
  );
  onClick(find('calls-forget', HTMLButtonElement), async () => {
    await sandbox.forgetCalls();
    await calls.refresh();
  });
  calls.onChange(() => {
    const { counts } = calls;
    for (const total of document.querySelectorAll('.calls-total')) {
      setText(total, counts === null ? '–' : formatCount(counts.total));
    }
    const most = Math.max(1, ...Object.values(counts?.operations ?? {}));
    for (const [operation, row] of rows) {
      const count = counts?.operations[operation] ?? 0;
      const text = counts === null ? '–' : formatCount(count);
      const figure = row.querySelector('.count');
      if (figure === null || figure.textContent === text) continue;
      setText(figure, text);
      row.style.setProperty('--to', String(count / most));
      row.classList.add('called');
      setTimeout(() => row.classList.remove('called'), FLASH_MS);
    }
  });
}
