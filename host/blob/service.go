package blob

import (
	"context"
	"io"
	"iter"

	"github.com/minio/minio-go/v7"
)

// service is what a store asks of its bucket.
//
// It is made of functions so that no client can be reached from a store by reflection: of what can be, the linker keeps
// every exported method, used or not, which of this client's is a megabyte.
type service struct {
	exists func(ctx context.Context) (bool, error)
	stat   func(ctx context.Context, key string) (size int64, err error)
	put    func(ctx context.Context, key string, r io.Reader, size int64, sent func()) error // sent is called now and then
	get    func(ctx context.Context, key string) (io.ReadCloser, error)
	list   func(ctx context.Context) iter.Seq[item]
}

// item is an object that a bucket holds, or why no more are listed.
type item struct {
	key  string
	size int64
	err  error
}

// newService returns a bucket as a client reaches it.
func newService(c *minio.Client, bucket string) service {
	return service{
		exists: func(ctx context.Context) (bool, error) { return c.BucketExists(ctx, bucket) },
		stat: func(ctx context.Context, key string) (int64, error) {
			info, err := c.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
			return info.Size, err
		},
		put: func(ctx context.Context, key string, r io.Reader, size int64, sent func()) error {
			_, err := c.PutObject(ctx, bucket, key, r, size, minio.PutObjectOptions{ContentType: "application/octet-stream", Progress: progress(sent)})
			return err
		},
		get: func(ctx context.Context, key string) (io.ReadCloser, error) {
			o, err := c.GetObject(ctx, bucket, key, minio.GetObjectOptions{})
			if err != nil {
				return nil, err // and no nil that is not nil
			}
			return o, nil
		},
		list: func(ctx context.Context) iter.Seq[item] {
			return func(yield func(item) bool) {
				for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Recursive: true}) {
					if !yield(item{o.Key, o.Size, o.Err}) {
						return
					}
				}
			}
		},
	}
}

// progress is called with what was sent.
type progress func()

// Read implements io.Reader, as the client wants it.
func (p progress) Read(b []byte) (int, error) {
	p()
	return len(b), nil
}
