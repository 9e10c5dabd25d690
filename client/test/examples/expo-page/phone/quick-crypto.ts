export function install(): void {}
