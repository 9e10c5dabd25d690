import { announce } from '../announce.ts';
import { find, h, setText } from '../dom.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { PRESETS, sandbox } from '../sandbox.ts';
import type { OneScreen } from './one-screen.ts';

const LOOK_MS = 250;

/** Troubles of one tap, each of which ends by itself, and is told by the phones. Returns what ends them all. */
export function startPresets(screen: OneScreen, show: () => Promise<void>): () => void {
  let rounds = 0;
  find('presets', HTMLElement).append(...PRESETS.map(button));

  function button([name, seconds, fault]: (typeof PRESETS)[number]): HTMLElement {
    const idle = `for ${seconds} s`;
    const left = h('small', {}, idle);
    const element = h('button', { type: 'button' }, h('b', {}, name), left);
    onClick(element, async () => {
      const round = rounds;
      const untilMs = performance.now() + 1_000 * seconds;
      await sandbox.fail({ ...fault, forMs: 1_000 * seconds });
      announce(`${name}, ${idle}.`);
      element.classList.add('running');
      void show();
      const isTold = screen.broken(name);
      const leftMs = () => untilMs - performance.now();
      while (round === rounds && leftMs() > 0) {
        setText(left, `${Math.ceil(leftMs() / 1_000)} s left`);
        await pause(LOOK_MS);
      }
      // A fault that is over before the phones have shown it would not be told.
      await isTold;
      screen.mended(name);
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
