// The stand-ins in this folder and in `androidx` are the parts of Android that the README uses, so that its code compiles. They do nothing.
@file:Suppress("unused")

package android.content

abstract class Context {
  abstract fun <T> getSystemService(type: Class<T>): T
}
