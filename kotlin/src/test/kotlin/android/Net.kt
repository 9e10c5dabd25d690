@file:Suppress("unused", "UNUSED_PARAMETER")

package android.net

open class Network {
  val networkHandle: Long = 0
}

open class ConnectivityManager {
  val activeNetwork: Network? = null

  fun registerDefaultNetworkCallback(callback: NetworkCallback) {}

  open class NetworkCallback {
    open fun onAvailable(network: Network) {}

    open fun onLost(network: Network) {}
  }
}
