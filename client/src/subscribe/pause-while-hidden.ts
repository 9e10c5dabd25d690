import type { Environment } from '../environment.ts';

export interface PauseListener {
  /** Called when the app has been hidden for `hiddenMs`. */
  paused(): void;
  /** Called when the app is shown again, or the network is back, also if the app was not paused. */
  returned(why?: 'online'): void;
}

/** Watches whether the app is visible. Returns a function that stops watching. */
export function pauseWhileHidden(
  environment: Environment,
  hiddenMs: number,
  listener: PauseListener,
): () => void {
  const { lifecycle } = environment;
  let cancel: (() => void) | null = null;
  const stopTimer = () => {
    cancel?.();
    cancel = null;
  };
  const startTimer = () => {
    cancel ??= environment.after(hiddenMs, () => {
      cancel = null;
      listener.paused();
    });
  };
  const endReturn = lifecycle.onReturn((why) => {
    // The network may come back while the app is hidden.
    if (!lifecycle.isVisible) return;
    stopTimer();
    listener.returned(why);
  });
  const endHide = lifecycle.onHide(startTimer);
  if (!lifecycle.isVisible) startTimer();
  return () => {
    stopTimer();
    endReturn();
    endHide();
  };
}
