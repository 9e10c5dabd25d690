import { find } from './dom.ts';

/** Announces an order's outcome or the connection's state to a screen reader. Prices are not announced: they would never end. */
export function announce(text: string): void {
  const region = find('announcer', HTMLElement);
  // A screen reader repeats the same words only if the text has changed in between.
  region.textContent = region.textContent === text ? `${text} ` : text;
}
