// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import com.example.api.HomeQuery
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob

/** The parts of an app that share a session. `onAnswer` keeps the id of each request as a breadcrumb of the app's reports. */
class TradingGraph(context: Context, url: String, onAnswer: (Breadcrumb) -> Unit) {
  val session = Session(url, AccountStore(context), onAnswer)
  val account = LiveAccount(session)
  val catalog = Catalog(session)
  private val network = NetworkState(context, account::networkIsBack)
  val orders = Orders(session, network, CoroutineScope(SupervisorJob() + Dispatchers.IO), context)

  init {
    session.onAccount = account::accountChanged
  }

  /** The first screen in one query. A field that failed is null, the others are there. */
  suspend fun home(): HomeQuery.Data = session.ask(session.client.query(HomeQuery()), partial = true)
}

/** Orders ask `isOnline` before they leave. */
class NetworkState(context: Context, private val onReturn: () -> Unit) : ConnectivityManager.NetworkCallback() {
  private val manager = context.getSystemService(ConnectivityManager::class.java)
  val isOnline get() = manager.activeNetwork != null

  init {
    manager.registerDefaultNetworkCallback(this)
  }

  override fun onAvailable(network: Network) = onReturn()
}
