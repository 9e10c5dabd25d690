/** How much an account holds, by its login. To be asked for proved accounts alone. */
export interface HoldingSizes {
  positions(login: string): number;
  orders(login: string): number;
}
