import { expect, test, vi } from 'vitest';
import { LightAbortController } from '../../src/lib/light-abort-controller.ts';

test('each listener is notified once, in the order of registration', () => {
  const controller = new LightAbortController();
  const notified: string[] = [];
  const first = () => notified.push('first');
  controller.addEventListener('abort', first);
  controller.addEventListener('abort', () => notified.push('second'));
  controller.addEventListener('abort', first);
  expect(controller.aborted).toBe(false);
  controller.abort();
  controller.abort();
  expect(notified).toEqual(['first', 'second']);
  expect(controller.aborted).toBe(true);
});

test('a removed listener is not notified, and may be removed again', () => {
  const controller = new LightAbortController();
  const [left, stays] = [vi.fn(), vi.fn()];
  controller.addEventListener('abort', left);
  controller.addEventListener('abort', stays);
  controller.removeEventListener('abort', left);
  controller.removeEventListener('abort', left);
  controller.abort();
  expect(left).not.toHaveBeenCalled();
  expect(stays).toHaveBeenCalledOnce();
});

test('a listener may remove itself while all are notified', () => {
  const controller = new LightAbortController();
  const stays = vi.fn();
  const leaving = () => controller.removeEventListener('abort', leaving);
  controller.addEventListener('abort', leaving);
  controller.addEventListener('abort', stays);
  controller.abort();
  expect(stays).toHaveBeenCalledOnce();
});

test('a listener that is added after the abort is not notified: `aborted` is already true', () => {
  const controller = new LightAbortController();
  controller.abort();
  const late = vi.fn();
  controller.addEventListener('abort', late);
  controller.abort();
  expect(late).not.toHaveBeenCalled();
});
