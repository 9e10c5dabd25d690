import { announce } from './announce.ts';
import { h } from './dom.ts';

type Task = () => Promise<void> | void;

/** Runs the task at each click, one at a time: the button is busy until the task has ended. */
export function onClick(button: HTMLButtonElement, task: Task): void {
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    // A disabled button would lose the keyboard focus.
    button.setAttribute('aria-disabled', 'true');
    await attempt(button, task);
    button.removeAttribute('aria-disabled');
  });
}

/** Runs the task. If the task fails, a sentence below the button says why. Resolves to whether the task succeeded. */
export async function attempt(button: HTMLButtonElement, task: Task): Promise<boolean> {
  const row = button.closest('.tools, .presets, ul') ?? button;
  const clear = () => {
    if (row.nextElementSibling?.matches('.problem')) row.nextElementSibling.remove();
  };
  try {
    await task();
    clear();
    return true;
  } catch (error) {
    clear();
    const text = error instanceof Error ? error.message : String(error);
    row.after(h('p', { class: 'problem' }, text));
    announce(text);
    return false;
  }
}
