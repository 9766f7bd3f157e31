package rowkey

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// oneBlock is the longest text whose md5 takes one block: 64 bytes, less the byte 0x80 and the length in bits.
const oneBlock = 64 - 1 - 8

// md5Table is T of RFC 1321: the first 32 bits of |sin(i + 1)|, i in radians.
var md5Table = func() (t [64]uint32) {
	for i := range t {
		t[i] = uint32(math.Abs(math.Sin(float64(i+1))) * (1 << 32))
	}
	return t
}()

// md5Block computes the md5 of a text of at most oneBlock bytes, as nearly every key's is. crypto/md5 spends a seventh of its time on the
// state for texts that arrive in pieces, which is a third of what the rest of a key costs. The operand that depends on the previous step is
// added last, because each step waits for it.
func md5Block(sum *digest, text []byte) {
	var block [64]byte
	n := copy(block[:oneBlock], text)
	block[n] = 0x80
	binary.LittleEndian.PutUint64(block[56:], uint64(n)*8)
	var x [16]uint32
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	const a0, b0, c0, d0 = 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476
	a, b, c, d := uint32(a0), uint32(b0), uint32(c0), uint32(d0)
	t := &md5Table
	for i := 0; i < 16; i += 4 {
		a = b + bits.RotateLeft32(a+x[i&15]+t[i&63]+(b&(c^d)^d), 7)
		d = a + bits.RotateLeft32(d+x[(i+1)&15]+t[(i+1)&63]+(a&(b^c)^c), 12)
		c = d + bits.RotateLeft32(c+x[(i+2)&15]+t[(i+2)&63]+(d&(a^b)^b), 17)
		b = c + bits.RotateLeft32(b+x[(i+3)&15]+t[(i+3)&63]+(c&(d^a)^a), 22)
	}
	for i := 16; i < 32; i += 4 {
		a = b + bits.RotateLeft32(a+x[(5*i+1)&15]+t[i&63]+(c&^d)+(b&d), 5)
		d = a + bits.RotateLeft32(d+x[(5*i+6)&15]+t[(i+1)&63]+(b&^c)+(a&c), 9)
		c = d + bits.RotateLeft32(c+x[(5*i+11)&15]+t[(i+2)&63]+(a&^b)+(d&b), 14)
		b = c + bits.RotateLeft32(b+x[(5*i)&15]+t[(i+3)&63]+(d&^a)+(c&a), 20)
	}
	for i := 32; i < 48; i += 4 {
		a = b + bits.RotateLeft32(a+x[(3*i+5)&15]+t[i&63]+(c^d^b), 4)
		d = a + bits.RotateLeft32(d+x[(3*i+8)&15]+t[(i+1)&63]+(b^c^a), 11)
		c = d + bits.RotateLeft32(c+x[(3*i+11)&15]+t[(i+2)&63]+(a^b^d), 16)
		b = c + bits.RotateLeft32(b+x[(3*i+14)&15]+t[(i+3)&63]+(d^a^c), 23)
	}
	for i := 48; i < 64; i += 4 {
		a = b + bits.RotateLeft32(a+x[(7*i)&15]+t[i&63]+(c^(b|^d)), 6)
		d = a + bits.RotateLeft32(d+x[(7*i+7)&15]+t[(i+1)&63]+(b^(a|^c)), 10)
		c = d + bits.RotateLeft32(c+x[(7*i+14)&15]+t[(i+2)&63]+(a^(d|^b)), 15)
		b = c + bits.RotateLeft32(b+x[(7*i+5)&15]+t[(i+3)&63]+(d^(c|^a)), 21)
	}
	binary.LittleEndian.PutUint32(sum[0:], a0+a)
	binary.LittleEndian.PutUint32(sum[4:], b0+b)
	binary.LittleEndian.PutUint32(sum[8:], c0+c)
	binary.LittleEndian.PutUint32(sum[12:], d0+d)
}
