import { announce } from '../announce.ts';
import { find, h, setText } from '../dom.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { failGateway, OUTAGES } from '../sandbox.ts';
import type { OneScreen } from './one-screen.ts';

const UPDATE_MS = 250;

/** Offers three faults of the gateway, which end by themselves. The two phones show their effects. */
export function startOutages(screen: OneScreen): void {
  find('outages', HTMLElement).append(
    ...OUTAGES.map(([name, seconds, fault]) => {
      const idle = `for ${seconds} s`;
      const left = h('small', {}, idle);
      const button = h('button', { type: 'button' }, h('b', {}, name), left);
      onClick(button, async () => {
        const untilMs = performance.now() + 1_000 * seconds;
        await failGateway({ ...fault, forMs: 1_000 * seconds });
        announce(`${name}, ${idle}.`);
        button.classList.add('running');
        const isShown = screen.faultBegan(name);
        const leftMs = () => untilMs - performance.now();
        while (leftMs() > 0) {
          setText(left, `${Math.ceil(leftMs() / 1_000)} s left`);
          await pause(UPDATE_MS);
        }
        // The phones may show the fault only after its end.
        await isShown;
        screen.faultEnded(name);
        button.classList.remove('running');
        setText(left, idle);
        announce(`${name}: over.`);
      });
      return button;
    }),
  );
}
