const PREFIX = 'app:';

export default {
  getItem: async (key: string) => localStorage.getItem(PREFIX + key),
  setItem: async (key: string, value: string) => localStorage.setItem(PREFIX + key, value),
  removeItem: async (key: string) => localStorage.removeItem(PREFIX + key),
  getAllKeys: async () =>
    Object.keys(localStorage).flatMap((key) =>
      key.startsWith(PREFIX) ? [key.slice(PREFIX.length)] : [],
    ),
};
