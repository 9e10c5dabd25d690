import type { Reservation } from '../order-records.ts';

/** Of more the process forgets that they are to be freed: they become unknown. */
const MAX_RESERVATIONS = 10_000;

/** Reservations that may be in Redis although their orders are not sent. Each is released until that succeeds. */
export class UnsentReservations {
  readonly #release: (reservation: Reservation) => Promise<void>;
  readonly #all = new Map<string, Reservation>();
  /** Those whose release is under way: a slow Redis would have another one queued with each try. */
  readonly #underWay = new Set<string>();

  constructor(release: (reservation: Reservation) => Promise<void>) {
    this.#release = release;
  }

  add(reservation: Reservation): void {
    if (this.#all.size >= MAX_RESERVATIONS) return;
    this.#all.set(reservation.id, reservation);
    this.#try(reservation);
  }

  releaseAll(): void {
    for (const reservation of this.#all.values()) this.#try(reservation);
  }

  #try(reservation: Reservation): void {
    const { id } = reservation;
    if (this.#underWay.has(id)) return;
    this.#underWay.add(id);
    const released = () => {
      this.#underWay.delete(id);
      this.#all.delete(id);
    };
    this.#release(reservation).then(released, () => this.#underWay.delete(id));
  }
}
