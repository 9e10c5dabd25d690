@file:Suppress("unused", "UNUSED_PARAMETER")

package androidx.lifecycle

interface LifecycleOwner {
  val lifecycle: Lifecycle
}

open class Lifecycle {
  fun addObserver(observer: DefaultLifecycleObserver) {}
}

interface DefaultLifecycleObserver {
  fun onStart(owner: LifecycleOwner) {}

  fun onStop(owner: LifecycleOwner) {}
}

object ProcessLifecycleOwner {
  fun get(): LifecycleOwner = throw NotImplementedError()
}
