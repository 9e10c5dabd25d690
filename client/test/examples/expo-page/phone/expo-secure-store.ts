// A keychain that outlives the page, with a sensor that asks for a finger, as often as `prompts` says: one that is in the page's storage is no known one.
interface Options {
  readonly requireAuthentication?: boolean;
}

export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY = 0;
export const WHEN_UNLOCKED_THIS_DEVICE_ONLY = 6;

const PREFIX = 'keychain:';
const sensor = Object.assign(globalThis, { prompts: 0 });

export async function getItemAsync(name: string, options?: Options): Promise<string | null> {
  const text = localStorage.getItem(PREFIX + name);
  if (text === null || !options?.requireAuthentication) return text;
  sensor.prompts += 1;
  if (localStorage.getItem('finger') !== null) throw new Error('The user has cancelled.');
  return text;
}

export async function setItemAsync(name: string, value: string): Promise<void> {
  localStorage.setItem(PREFIX + name, value);
}

export async function deleteItemAsync(name: string): Promise<void> {
  localStorage.removeItem(PREFIX + name);
}
