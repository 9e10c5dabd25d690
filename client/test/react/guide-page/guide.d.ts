declare module 'guide:App.tsx' {
  const App: () => import('react').ReactElement;
  export default App;
}
