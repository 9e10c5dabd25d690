import { find } from './dom.ts';

/** Tells a screen reader of an order's outcome or of the line's state. Prices are not told: they would never end. */
export function announce(text: string): void {
  const region = find('announcer', HTMLElement);
  // The same words twice are read out twice only where the text has changed in between.
  region.textContent = region.textContent === text ? `${text} ` : text;
}
