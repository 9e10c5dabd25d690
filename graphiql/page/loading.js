import { elementOf } from './elements.js';

/**
 * Loads GraphiQL, and shows how much of it has come.
 *
 * @param {string} path
 * @returns {Promise<import('./types.d.ts').GraphiQLModule>}
 */
export async function loadGraphiQL(path) {
  const bar = elementOf('loading', HTMLProgressElement);
  /** @type {NodeListOf<HTMLLinkElement>} */
  const links = document.querySelectorAll('link[data-bytes]');
  const sizes = [...links].map(({ href, dataset }) => ({ href, bytes: Number(dataset.bytes) }));
  bar.max = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const show = () => {
    const arrived = sizes.filter(({ href }) => performance.getEntriesByName(href).length > 0);
    bar.value = arrived.reduce((sum, { bytes }) => sum + bytes, 0);
  };
  // Some of them may have come before this script.
  show();
  for (const link of links) link.addEventListener('load', show);
  try {
    return await import(path);
  } catch (error) {
    elementOf('loading-state', HTMLElement).textContent =
      'The editor could not be loaded. Is the server still there? Reload the page to try again.';
    bar.hidden = true;
    throw error;
  }
}
