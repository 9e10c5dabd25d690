import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { TWO_CALLS } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatCount } from '../format.ts';
import { onClick } from '../on-click.ts';
import { type Fault, sandbox } from '../sandbox.ts';
import { USERS } from '../session.ts';

const KINDS: Readonly<Record<string, Pick<Fault, 'kind' | 'status' | 'delayMs'>>> = {
  delay: { kind: 'delay', delayMs: 2_000 },
  status: { kind: 'status', status: 503 },
  reset: { kind: 'reset-before' },
  garbage: { kind: 'garbage' },
};
const KIND_WORDS: Readonly<Record<Fault['kind'], string>> = {
  delay: 'answers 2 s late',
  status: 'answers 503',
  'reset-before': 'resets the connection',
  garbage: 'answers no JSON',
};
const FLASH_MS = 600;

/** The console: the signed-in user, the gateway's faults, and the number of its calls. */
export function startConsole(app: App): void {
  new CodeBox('console-code', app, {
    document: TWO_CALLS,
    client: `const { data, errors } = await client.query(\`${TWO_CALLS}\`);
console.log(data);
// A field that failed is in errors, beside the data of the others.
for (const { code, path, retryable } of errors) console.log(code, path, retryable);`,
  });
  startUsers(app);
  startFaults(app);
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

function startFaults(app: App): void {
  const form = find('fault-form', HTMLFormElement);
  const list = find('fault-list', HTMLElement);

  async function show(): Promise<void> {
    const faults = await sandbox.faults().catch(() => null);
    const none = find('fault-none', HTMLElement);
    none.hidden = faults?.length !== 0;
    if (faults === null) return;
    list.replaceChildren(
      ...faults.map(({ operation, kind, times }) => {
        const often = times === undefined ? 'until cleared' : `for ${times} of the next calls`;
        return h(
          'li',
          {},
          h('code', {}, operation === '*' ? 'every operation' : operation),
          ` ${KIND_WORDS[kind] ?? kind}, ${often}`,
        );
      }),
    );
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('fault-add', HTMLButtonElement), async () => {
    const data = new FormData(form);
    const times = Number(data.get('times'));
    await sandbox.fail({
      operation: String(data.get('operation')),
      ...(KINDS[String(data.get('kind'))] ?? { kind: 'delay' }),
      ...(times > 0 && { times }),
    });
    announce('The fault is set.');
    await show();
  });
  onClick(find('fault-clear', HTMLButtonElement), async () => {
    await sandbox.clearFaults();
    announce('All faults are cleared.');
    await show();
  });
  // Faults end by themselves too, which nobody has to be told who does not look.
  let isSeen = false;
  new IntersectionObserver(([entry]) => {
    isSeen = entry?.isIntersecting ?? false;
    if (isSeen) void show();
  }).observe(form);
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
