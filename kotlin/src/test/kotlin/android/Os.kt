package android.os

object SystemClock {
  fun elapsedRealtime(): Long = 0
}
