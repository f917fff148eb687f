// SPDX-License-Identifier: Apache-2.0

package datasets

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// phishingHeader is that of the CSV form; the ARFF file has its columns in the same order.
var phishingHeader = strings.Fields(`having_IP_Address URL_Length Shortining_Service having_At_Symbol
	double_slash_redirecting Prefix_Suffix having_Sub_Domain SSLfinal_State Domain_registeration_length Favicon port
	HTTPS_token Request_URL URL_of_Anchor Links_in_tags SFH Submitting_to_email Abnormal_URL Redirect on_mouseover
	RightClick popUpWidnow Iframe age_of_domain DNSRecord web_traffic Page_Rank Google_Index Links_pointing_to_page
	Statistical_report Result`)

// writePhishing writes the rows of the source's ARFF file as CSV.
func writePhishing(folder string, w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "\"%s\"\n", strings.Join(phishingHeader, `","`))
	data := false
	err := lines(folder, "Training Dataset.arff", func(line string) error {
		switch {
		case strings.EqualFold(line, "@data"):
			data = true
		case data && line != "":
			fmt.Fprintln(b, line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

// writeHAPT writes the labelled samples of the raw files: acceleration in 1/720 g, which is the sensor's step, and
// angular velocity in 1/10,000 rad/s.
func writeHAPT(folder string, w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "exp,user,segment,activity,ax,ay,az,gx,gy,gz")
	var exp, user int
	var acc, gyro [][3]int
	segment := 0
	err := lines(folder, "labels.txt", func(line string) error {
		segment++
		var e, u, activity, from, to int
		if _, err := fmt.Sscan(line, &e, &u, &activity, &from, &to); err != nil {
			return fmt.Errorf("datasets: labels.txt:%d: must be five numbers", segment)
		}
		if e != exp || u != user {
			exp, user = e, u
			var err error
			if acc, err = samples(folder, fmt.Sprintf("acc_exp%02d_user%02d.txt", e, u), 720); err != nil {
				return err
			}
			if gyro, err = samples(folder, fmt.Sprintf("gyro_exp%02d_user%02d.txt", e, u), 10_000); err != nil {
				return err
			}
		}
		if from < 1 || to < from || to > min(len(acc), len(gyro)) {
			return fmt.Errorf("datasets: labels.txt:%d: must lie within the samples", segment)
		}
		for i := from - 1; i < to; i++ {
			a, g := acc[i], gyro[i]
			fmt.Fprintf(b, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", e, u, segment, activity, a[0], a[1], a[2], g[0], g[1], g[2])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

// samples reads three numbers a line, times scale and rounded.
func samples(folder, name string, scale float64) (out [][3]int, err error) {
	err = lines(folder, name, func(line string) error {
		var x [3]float64
		if _, err := fmt.Sscan(line, &x[0], &x[1], &x[2]); err != nil {
			return fmt.Errorf("datasets: %s:%d: must be three numbers", name, len(out)+1)
		}
		var s [3]int
		for j, v := range x {
			s[j] = int(math.Round(v * scale))
		}
		out = append(out, s)
		return nil
	})
	return out, err
}
