// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import android.content.Context
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import android.util.Base64
import java.security.KeyStore
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import org.json.JSONObject

/** The account that is signed in. */
data class Account(val email: String, val token: String)

/** Encrypted by a key that never leaves the phone's keystore. */
class AccountStore(context: Context) {
  private val preferences = context.getSharedPreferences("trading-graph", Context.MODE_PRIVATE)

  /** Null where nobody is signed in, and where the key is gone. */
  fun read(): Account? = runCatching {
    val kept = Base64.decode(preferences.getString("account", null), Base64.NO_WRAP)
    val cipher = Cipher.getInstance(CIPHER)
    cipher.init(Cipher.DECRYPT_MODE, key(), GCMParameterSpec(128, kept, 0, IV_BYTES))
    val account = JSONObject(String(cipher.doFinal(kept, IV_BYTES, kept.size - IV_BYTES)))
    Account(account.getString("email"), account.getString("token"))
  }.getOrNull()

  fun write(account: Account) {
    val text = JSONObject().put("email", account.email).put("token", account.token).toString()
    val cipher = Cipher.getInstance(CIPHER)
    cipher.init(Cipher.ENCRYPT_MODE, key())
    val kept = cipher.iv + cipher.doFinal(text.toByteArray())
    preferences.edit().putString("account", Base64.encodeToString(kept, Base64.NO_WRAP)).apply()
  }

  fun delete() = preferences.edit().remove("account").apply()

  private fun key(): SecretKey {
    val store = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }
    (store.getKey(ALIAS, null) as SecretKey?)?.let { return it }
    val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
    val rules = KeyGenParameterSpec.Builder(ALIAS, purposes)
      .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
      .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
      .build()
    return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, "AndroidKeyStore").apply { init(rules) }.generateKey()
  }

  private companion object {
    const val ALIAS = "trading-graph"
    const val CIPHER = "AES/GCM/NoPadding"
    const val IV_BYTES = 12
  }
}
