package account

import "testing"

// foreign are hashes of "password" that other libraries made: libcrypt, Python's hashlib and argon2-cffi.
var foreign = map[string]string{
	"bcrypt":              "$2b$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu",
	"bcrypt-2y":           "$2y$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu",
	"django-bcrypt":       "bcrypt$$2b$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu",
	"django-bcryptsha":    "bcrypt_sha256$$2b$05$abcdefghijklmnopqrstuuE94Q3eTNjN48w2NX2tPsDTNeG6w2MH2",
	"django-pbkdf2":       "pbkdf2_sha256$1000$saltsalt$E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY=",
	"django-pbkdf2-sha1":  "pbkdf2_sha1$1000$saltsalt$6f6/9Uv85mj94wGsyFVjzJ3HHvY=",
	"phc-pbkdf2":          "$pbkdf2-sha256$i=1000,l=32$c2FsdHNhbHQ$E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY",
	"passlib-pbkdf2":      "$pbkdf2-sha256$1000$c2FsdHNhbHQ$E196ZhRPzw.wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY",
	"passlib-pbkdf2-sha1": "$pbkdf2$1000$c2FsdHNhbHQ$6f6/9Uv85mj94wGsyFVjzJ3HHvY",
	"phc-pbkdf2-sha512":   "$pbkdf2-sha512$1000$c2FsdHNhbHQ$Q6v4xwJ8a9nWPp2BeEoAYYhHSo2xRmPWART17vTpSxt2q6iNp7BOozW557qqa95eNjUO4gKs0CyvJbYGGku1tA",
	"phc-argon2id":        "$argon2id$v=19$m=1024,t=3,p=2$c2FsdHNhbHRzYWx0c2FsdA$iUTgGwjiv8ILKIOID2AHeE47aktK9Y1lRWX9FJ3eWak",
	"django-argon2":       "argon2$argon2id$v=19$m=1024,t=3,p=2$c2FsdHNhbHRzYWx0c2FsdA$iUTgGwjiv8ILKIOID2AHeE47aktK9Y1lRWX9FJ3eWak",
}

// FuzzHash checks that any imported hash is refused or has bounded cost, and that nothing panics.
func FuzzHash(f *testing.F) {
	for _, hash := range foreign {
		f.Add(hash)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := parseHash(text)
		if err != nil {
			return
		}
		if form.mem > maxMemoryKiB || form.passes > maxPasses || form.iterations > maxIterations || len(form.sum) > maxSumBytes {
			t.Errorf("%q is unbounded work", text)
		}
		if form.kind != "bcrypt" && len(form.sum) < 16 {
			t.Errorf("%q is matched by many passwords", text)
		}
	})
}
