package readme

import android.content.Context
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import android.util.Base64
import java.io.IOException
import java.security.KeyStore
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import tradinggraph.KeyStorage

/** Preferences whose texts are encrypted with a key of the Android Keystore. Leave the file out of backups. */
class EncryptedStorage(context: Context) : KeyStorage {
  private val preferences = context.getSharedPreferences("trading-graph-orders", Context.MODE_PRIVATE)

  override suspend fun read(prefix: String) = withContext(Dispatchers.IO) {
    preferences.all.filterKeys { it.startsWith(prefix) }.mapValues { (_, text) -> decrypted(text as String) }
  }

  override suspend fun write(name: String, text: String?): Unit = withContext(Dispatchers.IO) {
    val editor = preferences.edit()
    if (text == null) editor.remove(name) else editor.putString(name, encrypted(text))
    // `apply` would return before the key is on the disk.
    if (!editor.commit()) throw IOException("The key was not written.")
  }

  private fun encrypted(text: String): String {
    val cipher = Cipher.getInstance("AES/GCM/NoPadding").apply { init(Cipher.ENCRYPT_MODE, key()) }
    return Base64.encodeToString(cipher.iv + cipher.doFinal(text.toByteArray()), Base64.NO_WRAP)
  }

  private fun decrypted(text: String): String {
    val bytes = Base64.decode(text, Base64.NO_WRAP)
    val cipher = Cipher.getInstance("AES/GCM/NoPadding").apply { init(Cipher.DECRYPT_MODE, key(), GCMParameterSpec(128, bytes, 0, 12)) }
    return String(cipher.doFinal(bytes, 12, bytes.size - 12))
  }

  private fun key(): SecretKey {
    val store = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }
    (store.getKey(ALIAS, null) as SecretKey?)?.let { return it }
    val use = KeyGenParameterSpec.Builder(ALIAS, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
      .setBlockModes(KeyProperties.BLOCK_MODE_GCM).setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE).build()
    return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, "AndroidKeyStore").apply { init(use) }.generateKey()
  }

  private companion object {
    const val ALIAS = "trading-graph-orders"
  }
}
