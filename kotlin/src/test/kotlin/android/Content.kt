// The stand-ins in this folder and in `androidx` are the parts of Android that the README uses, so that its code compiles. They do nothing.
@file:Suppress("unused")

package android.content

abstract class Context {
  abstract fun <T> getSystemService(type: Class<T>): T

  abstract fun getSharedPreferences(name: String, mode: Int): SharedPreferences

  companion object {
    const val MODE_PRIVATE = 0
  }
}

interface SharedPreferences {
  val all: Map<String, *>

  fun edit(): Editor

  interface Editor {
    fun putString(name: String, text: String?): Editor

    fun remove(name: String): Editor

    fun commit(): Boolean
  }
}
