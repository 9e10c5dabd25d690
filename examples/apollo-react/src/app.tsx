import { useState } from 'react';
import { EarlierOrders } from './earlier-orders.tsx';
import { OrderForm } from './order-form.tsx';
import { LiveStatus, Positions, Totals } from './positions.tsx';
import { Search } from './search.tsx';
import { signOut, useSession } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';
import { useLivePositions } from './use-live-positions.ts';

export function App() {
  return useSession().token === null ? <SignInForm /> : <Home />;
}

function Home() {
  const live = useLivePositions();
  const [symbol, setSymbol] = useState('AAPL');
  return (
    <>
      <header>
        <h1>Positions</h1>
        <LiveStatus {...live} />
        <button type="button" className="quiet" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main>
        <section aria-label="Positions">
          <EarlierOrders {...live} />
          <Totals {...live} />
          <Positions {...live} />
        </section>
        <section aria-label="Order">
          <Search onChoose={setSymbol} />
          <OrderForm symbol={symbol} />
        </section>
      </main>
    </>
  );
}
