export const randomUUID = () => crypto.randomUUID();
