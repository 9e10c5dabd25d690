package readme

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import android.os.SystemClock
import androidx.lifecycle.DefaultLifecycleObserver
import androidx.lifecycle.LifecycleOwner
import androidx.lifecycle.ProcessLifecycleOwner
import kotlinx.coroutines.flow.MutableStateFlow
import tradinggraph.Device

/** Made on the main thread, once. */
class AndroidDevice(context: Context) : Device {
  private val manager = context.getSystemService(ConnectivityManager::class.java)
  override val network = MutableStateFlow(manager.activeNetwork?.networkHandle)
  override val isVisible = MutableStateFlow(false)

  // It counts deep sleep, which System.nanoTime() does not.
  override fun uptimeMillis() = SystemClock.elapsedRealtime()

  init {
    manager.registerDefaultNetworkCallback(object : ConnectivityManager.NetworkCallback() {
      override fun onAvailable(network: Network) {
        this@AndroidDevice.network.value = network.networkHandle
      }

      override fun onLost(network: Network) {
        this@AndroidDevice.network.compareAndSet(network.networkHandle, null)
      }
    })
    ProcessLifecycleOwner.get().lifecycle.addObserver(object : DefaultLifecycleObserver {
      override fun onStart(owner: LifecycleOwner) {
        isVisible.value = true
      }

      override fun onStop(owner: LifecycleOwner) {
        isVisible.value = false
      }
    })
  }
}
