import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { type Fault, sandbox } from '../sandbox.ts';
import type { OneScreen } from './one-screen.ts';

interface Preset {
  readonly name: string;
  /** Null for what is over when the client has mended it. */
  readonly seconds: number | null;
  start(ms: number): Promise<unknown>;
  /** The caption's words beside "no difference here". */
  readonly note?: string;
  /** Tells whether it is over, where time alone does not end it. */
  readonly isOver?: () => boolean;
  end?(): void;
}

const LOOK_MS = 250;

/** Troubles of one tap, each of which ends by itself, and is told by the phones. Returns what ends them all. */
export function startPresets(app: App, screen: OneScreen, show: () => Promise<void>): () => void {
  let rounds = 0;
  const failing = (faults: readonly Omit<Fault, 'forMs'>[]) => (forMs: number) =>
    Promise.all(faults.map((fault) => sandbox.fail({ ...fault, forMs })));
  const payments = ['getWithdrawalMethods', 'getCustomerId'];
  const orders = ['openPosition', 'placeLimitOrder'];
  let revoked: string | null = null;

  const presets: readonly Preset[] = [
    {
      name: 'Gateway down',
      seconds: 10,
      start: failing([{ operation: '*', kind: 'reset-before' }]),
    },
    {
      name: 'Payments slow',
      seconds: 30,
      start: failing(payments.map((operation) => ({ operation, kind: 'delay', delayMs: 3_000 }))),
    },
    {
      name: 'Prices are garbage',
      seconds: 15,
      start: failing([{ operation: 'getOpenPositions', kind: 'garbage' }]),
    },
    {
      name: 'Order answers get lost',
      seconds: 30,
      note: '; an order placed meanwhile shows one',
      start: failing(orders.map((operation) => ({ operation, kind: 'reset-after' }))),
    },
    {
      name: 'My connection drops',
      seconds: 10,
      note: '; the live account below resumes from its last event',
      async start() {
        app.line.isDown = true;
      },
      end() {
        app.line.isDown = false;
        // The client takes it for the network's return, and does not wait out its pause.
        dispatchEvent(new Event('online'));
      },
    },
    {
      name: 'My token is revoked',
      seconds: null,
      note: '; both apps sign in again, the graph for one refused call',
      async start() {
        revoked = app.session.heldToken;
        if (revoked !== null) await sandbox.revoke(revoked);
      },
      isOver: () => app.session.heldToken !== revoked,
    },
  ];
  find('presets', HTMLElement).append(...presets.map(button));

  function button({ name, seconds, start, note, isOver = () => true, end }: Preset): HTMLElement {
    const idle = seconds === null ? 'until renewed' : `for ${seconds} s`;
    const left = h('small', {}, idle);
    const element = h('button', { type: 'button' }, h('b', {}, name), left);
    onClick(element, async () => {
      const round = rounds;
      const ms = 1_000 * (seconds ?? 0);
      const untilMs = performance.now() + ms;
      await start(ms);
      announce(`${name}, ${idle}.`);
      element.classList.add('running');
      void show();
      const isTold = screen.broken(name, seconds === null ? revoked : null, note);
      const leftMs = () => untilMs - performance.now();
      while (round === rounds && (leftMs() > 0 || !isOver())) {
        const words = `${Math.ceil(leftMs() / 1_000)} s left`;
        setText(left, seconds === null ? 'signing in again' : words);
        await pause(LOOK_MS);
      }
      // A fault that is over before the phones have shown it would not be told.
      await isTold;
      end?.();
      screen.mended(name, seconds !== null);
      element.classList.remove('running');
      setText(left, idle);
      announce(`${name}: over.`);
      void show();
    });
    return element;
  }

  return () => {
    rounds += 1;
  };
}
