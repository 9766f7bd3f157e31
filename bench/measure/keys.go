package measure

// FillKey sets key, of at least 12 bytes, to the key of the i-th row of a load: two evenly distributed hex digits, and the number.
func FillKey(key []byte, i int) {
	const hex = "0123456789abcdef"
	salt := uint32(i) * 0x9E3779B1 >> 24
	key[0], key[1] = hex[salt>>4], hex[salt&15]
	for at := len(key) - 1; at > 1; at-- {
		key[at] = byte('0' + i%10)
		i /= 10
	}
}
