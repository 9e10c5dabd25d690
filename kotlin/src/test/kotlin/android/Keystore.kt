@file:Suppress("UNUSED_PARAMETER")

package android.security.keystore

import java.security.spec.AlgorithmParameterSpec

object KeyProperties {
  const val PURPOSE_ENCRYPT = 1
  const val PURPOSE_DECRYPT = 2
  const val BLOCK_MODE_GCM = "GCM"
  const val ENCRYPTION_PADDING_NONE = "NoPadding"
  const val KEY_ALGORITHM_AES = "AES"
}

class KeyGenParameterSpec : AlgorithmParameterSpec {
  class Builder(alias: String, purposes: Int) {
    fun setBlockModes(mode: String) = this

    fun setEncryptionPaddings(padding: String) = this

    fun build() = KeyGenParameterSpec()
  }
}
